import Synchronization

/// That the process was told to end: given once, and waited for by one server after another.
final class EndSignal: Sendable {
  private struct State {
    var isGiven = false
    var last = 0
    var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  private let state = Mutex(State())

  var isGiven: Bool { state.withLock(\.isGiven) }

  /// Ends every wait, and those that come later.
  func give() {
    let waiting = state.withLock { state in
      state.isGiven = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.finish() }
  }

  /// Returns when it is given, or when the task is cancelled.
  @Sendable func wait() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let number: Int? = state.withLock { state in
      guard !state.isGiven else { return nil }
      state.last += 1
      state.waiting[state.last] = continuation
      return state.last
    }
    guard let number else { return }
    for await _ in stream {}
    state.withLock { $0.waiting[number] = nil }
  }
}
