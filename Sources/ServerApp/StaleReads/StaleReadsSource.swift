import HTTPServer
import RealtimeAPI
import StoragePostgres
import Synchronization

/// What a node's port for stale reads answers from, and how old that may be.
final class StaleReadsSource: Sendable {
  /// What there is to answer from.
  enum Content: Sendable {
    /// The working copy of a node that follows.
    case copy(CopyView)
    /// The store, on the node that leads.
    case store(LeadingStore)

    /// Answers requests for the tree.
    var routes: TreeRoutes {
      switch self {
      case .copy(let view): view.routes
      case .store(let store): store.routes
      }
    }

    /// Who sends a request.
    var callers: CallerIdentification {
      switch self {
      case .copy(let view): view.callers
      case .store(let store): store.callers
      }
    }
  }

  /// What a node that leads answers with.
  struct LeadingStore: Sendable {
    let routes: TreeRoutes
    let callers: CallerIdentification
    /// Whether no other node can have written since.
    let isCurrent: @Sendable () -> Bool
  }

  /// What becomes of a request.
  enum Answer: Sendable {
    /// It is answered from this, which may have been behind for so many milliseconds; nil: it is the newest.
    case from(Content, age: Int64?)
    /// It is asked again in a moment.
    case held
    case none
  }

  /// Requests that wait while the rules change; of more one is refused.
  static let heldMax = 1000

  fileprivate struct State {
    var content: Content?
    /// When the copy was the newest, by the monotonic clock; nil before that was seen.
    var comparedAt: Int64?
    /// What waits for the next content; nil where nothing does.
    var held: [@Sendable () -> Void]?
    var answers = 0
  }

  private let state = Mutex(State())

  /// How many requests were answered from a copy.
  var answers: Int { state.withLock(\.answers) }

  func noteAnswer() { state.withLock { $0.answers += 1 } }

  /// How many wait for the rules.
  var heldCount: Int { state.withLock { $0.held?.count ?? 0 } }

  /// What there is to answer from.
  var content: Content? { state.withLock(\.content) }

  /// What a request is answered from.
  ///
  /// - `again`: called when there is something else to answer from, if that is `held`.
  func answer(_ again: @escaping @Sendable () -> Void) -> Answer {
    state.withLock { state in
      if let held = state.held {
        guard held.count < Self.heldMax else { return .none }
        state.held?.append(again)
        return .held
      }
      switch state.content {
      case nil: return .none
      case .store?: return state.content.map { .from($0, age: nil) } ?? .none
      case .copy?:
        guard let age = state.age, age <= StaleReads.ageMax, let content = state.content else { return .none }
        return .from(content, age: age)
      }
    }
  }

  /// Whether a request would be answered.
  var isReady: Bool {
    state.withLock { state in
      switch state.content {
      case nil: state.held != nil
      case .store(let store)?: store.isCurrent()
      case .copy?: state.age.map { $0 <= StaleReads.ageMax } ?? false
      }
    }
  }

  /// Answers from this, also what was held; nil: from nothing.
  func show(_ content: Content?) {
    let held = state.withLock { state in
      if case .copy(let view) = state.content { view.retire() }
      state.content = content
      if case .copy = content {} else { state.comparedAt = nil }
      defer { state.held = nil }
      return state.held ?? []
    }
    for again in held { again() }
  }

  /// Answers nothing before ``show(_:)``: what is asked meanwhile waits.
  func hold() {
    state.withLock { state in
      guard case .copy(let view) = state.content else { return }
      view.retire()
      state.content = nil
      state.held = []
    }
  }

  /// The copy had everything at this time, by the monotonic clock.
  func noteComparison(at time: Int64) { state.withLock { $0.comparedAt = time } }
}

extension StaleReadsSource.State {
  /// For how long the copy may have been behind, in milliseconds; nil if it was not compared yet.
  fileprivate var age: Int64? { comparedAt.map { max(0, MonotonicTime.now() - $0) } }
}
