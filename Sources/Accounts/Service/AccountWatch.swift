import Credentials
package import StorageCore
import Synchronization

/// Which tokens are void though their time is not over: what every request with a token asks, answered from memory.
///
/// Holds what the table of revocations holds, which is what happened in the lifetime of a token: an older deed leaves no
/// token alive. Fed by commits, in their order.
package final class AccountWatch: CommitObserver {
  /// Told of each revocation once it is durable, on the thread that tells of commits: it must only take note.
  package typealias Listener = @Sendable (NamespaceID, AccountRevocation) -> Void

  private struct State {
    var revocations: [NamespaceID: [ExactKey: AccountRevocation]] = [:]
    var listeners: [Listener] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Takes over what the store has: what earlier processes left, or another node has written. Before this watch is told of commits.
  ///
  /// - `now`: milliseconds since 1970: what concerns no token that can still live is left where it is.
  package func load(from engine: any StorageEngine, at now: Int64) throws {
    let oldest = now - IDTokenIssuer.lifetime * 2000
    let kept = try engine.read { snapshot in
      var kept: [(NamespaceID, [AccountRevocation])] = []
      for namespace in try snapshot.namespaces() {
        kept.append((namespace.id, try snapshot.accountRevocations(in: namespace.id)))
      }
      return kept
    }
    var found: [NamespaceID: [ExactKey: AccountRevocation]] = [:]
    for (namespace, revocations) in kept {
      for one in revocations where one.effectiveAt >= oldest { found[namespace, default: [:]][ExactKey(text: one.uid)] = one }
    }
    state.withLock { [found] in $0.revocations = found }
  }

  /// From now on `listener` is told.
  package func listen(_ listener: @escaping Listener) {
    state.withLock { $0.listeners.append(listener) }
  }

  /// Why a token is void; nil if it is not.
  ///
  /// - `issuedAt`: the token's `iat`, in seconds since 1970.
  /// - `now`: in milliseconds since 1970.
  package func revocation(of uid: String, in namespace: NamespaceID, issuedAt: Int64, at now: Int64) -> AccountRevocation? {
    guard let found = state.withLock({ $0.revocations[namespace]?[ExactKey(text: uid)] }) else { return nil }
    return issuedAt < found.notBefore && now >= found.effectiveAt ? found : nil
  }

  package func didCommit(_ batch: [CommittedRequest]) {
    for committed in batch {
      guard let change = committed.request.decision as? AccountChange else { continue }
      let namespace = committed.request.namespace
      for revocation in change.revocations {
        let listeners = state.withLock { state in
          state.revocations[namespace, default: [:]][ExactKey(text: revocation.uid)] = revocation
          return state.listeners
        }
        for listener in listeners { listener(namespace, revocation) }
      }
    }
  }

  package func didForget(_ namespace: NamespaceID) {
    state.withLock { $0.revocations[namespace] = nil }
  }

  /// Forgets what no living token is concerned by.
  func forget(_ uids: [String], in namespace: NamespaceID) {
    state.withLock { state in
      for uid in uids { state.revocations[namespace]?[ExactKey(text: uid)] = nil }
    }
  }
}
