import StorageCore
import Synchronization
import TreeModel

/// What published campaigns wait for: the one thing that every commit looks at.
///
/// Where nothing waits, a commit costs one look at ``isIdle``.
package final class WaitingCampaigns: Sendable {
  /// What is waited for.
  struct Content: Sendable {
    /// By the name of the event, the conditions of each trigger.
    var triggers: [String: [[ParameterCondition]]] = [:]
    /// By the name of the event, campaigns that it is the goal of.
    var goals: [String: [Campaign]] = [:]
    /// Campaigns that have a goal, an app's event or the server's.
    var converting: [Campaign] = []
    /// How long an event is kept, in milliseconds.
    var lifetime: Int64 = 30 * 86_400_000
  }

  private struct State {
    var namespace: NamespaceID?
    var content = Content()
    /// Players for whom events were put, with the revision that must be durable before they are told.
    var touched: [(uid: String, revision: Revision)] = []
  }

  private let isAnything = Atomic(false)
  private let state = Mutex(State())

  /// Players that wait to be told; of more the newest are found at their next fetch.
  private static let touchedMax = 100_000

  package init() {}

  /// Whether no campaign waits for anything.
  var isIdle: Bool { !isAnything.load(ordering: .acquiring) }

  /// What campaigns of a namespace wait for; nil for other namespaces.
  func content(of namespace: NamespaceID) -> Content? {
    state.withLock { $0.namespace == namespace ? $0.content : nil }
  }

  func replace(_ content: Content, in namespace: NamespaceID?) {
    state.withLock {
      $0.namespace = namespace
      $0.content = content
    }
    isAnything.store(!content.triggers.isEmpty || !content.converting.isEmpty, ordering: .releasing)
  }

  /// Notes that an event was put for a player. If the commit is refused after all, somebody looks in vain.
  func touch(_ uid: String, at revision: Revision) {
    state.withLock { if $0.touched.count < Self.touchedMax { $0.touched.append((uid, revision)) } }
  }

  /// Takes the players whose events are durable.
  func takeTouched(through revision: Revision) -> Set<String> {
    state.withLock { state in
      guard !state.touched.isEmpty else { return [] }
      let ready = Set(state.touched.filter { $0.revision <= revision }.map(\.uid))
      state.touched.removeAll { $0.revision <= revision }
      return ready
    }
  }
}
