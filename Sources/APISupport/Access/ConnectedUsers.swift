import Credentials
package import HTTPServer
package import StorageCore
import Synchronization

/// Sockets and event streams by user, told when their tokens become void.
package final class ConnectedUsers: Sendable {
  /// With which credentials a connection was opened.
  enum Holder: Sendable, Hashable {
    case user(ExactKey)
    /// By the name of the service account.
    case serviceAccount(String)
  }

  /// One connection; ends with ``ConnectedUsers/remove(_:)``.
  package struct Registration: Sendable, Hashable {
    let holder: Holder
    package let number: Int
  }

  private struct State {
    var next = 0
    var clients: [Holder: [Int: @Sendable (Int64) -> Void]] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Notes a connection; nil if the caller's credentials cannot become void.
  ///
  /// - `look`: called on any thread when the caller's tokens became void, or are about to, with the time from which
  ///   on they are, in milliseconds since 1970; it must hop and look.
  package func add(_ caller: Caller, look: @escaping @Sendable (_ effectiveAt: Int64) -> Void) -> Registration? {
    let holder: Holder
    if let grant = caller.grant {
      holder = .serviceAccount(grant.account)
    } else if case .user(let uid) = caller.actor {
      holder = .user(ExactKey(text: uid))
    } else {
      return nil
    }
    return state.withLock { state in
      state.next += 1
      state.clients[holder, default: [:]][state.next] = look
      return Registration(holder: holder, number: state.next)
    }
  }

  package func remove(_ registration: Registration) {
    state.withLock { state in
      state.clients[registration.holder]?[registration.number] = nil
      if state.clients[registration.holder]?.isEmpty == true { state.clients[registration.holder] = nil }
    }
  }

  /// Tells the connections of a user.
  package func tell(_ revocation: AccountRevocation) {
    tell(.user(ExactKey(text: revocation.uid)), effectiveAt: revocation.effectiveAt)
  }

  /// Tells the connections of a service account that was revoked.
  ///
  /// - `time`: since when, in milliseconds since 1970.
  package func tell(serviceAccount name: String, revokedAt time: Int64) {
    tell(.serviceAccount(name), effectiveAt: time)
  }

  private func tell(_ holder: Holder, effectiveAt: Int64) {
    let looks = state.withLock { state in Array((state.clients[holder] ?? [:]).values) }
    for look in looks { look(effectiveAt) }
  }
}
