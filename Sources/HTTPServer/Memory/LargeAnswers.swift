import DequeModule
package import NIOPosix
import Synchronization

/// Makes answers that are too large for an event loop on other threads, a few at a time.
///
/// An answer takes several times its size while it is made: rows, nodes, text. The next is begun only when one of those before
/// is with its connection, which counts it in ``MemoryBudgets/output``: however many clients ask for something large at
/// once, what is not counted there stays a few answers.
///
/// Those that wait are bounded by the connections: each waits for one answer.
package final class LargeAnswers: Sendable {
  /// The right to make one answer. It ends with its last reference: hand it on with the answer, until that is counted.
  package final class Turn: Sendable {
    private let answers: LargeAnswers

    fileprivate init(_ answers: LargeAnswers) { self.answers = answers }

    deinit { answers.endTurn() }
  }

  /// Makes an answer; without a turn the server is shutting down, and the client is told so.
  package typealias Work = @Sendable (Turn?) -> Void

  private struct State {
    var running = 0
    /// Oldest first.
    var waiting: Deque<Work> = []
  }

  private let pool: NIOThreadPool
  private let atOnceMax: Int
  private let state = Mutex(State())

  /// - `atOnceMax`: answers that are made, or on their way to their connections, at the same time.
  package init(on pool: NIOThreadPool, atOnceMax: Int = 2) {
    precondition(atOnceMax > 0, "Without a turn nobody is ever answered.")
    self.pool = pool
    self.atOnceMax = atOnceMax
  }

  /// Runs `work` on a thread of the pool as soon as it has a turn; in the order of the calls.
  package func submit(_ work: @escaping Work) {
    let begins = state.withLock { state in
      guard state.running < atOnceMax else {
        state.waiting.append(work)
        return false
      }
      state.running += 1
      return true
    }
    if begins { begin(work) }
  }

  private func begin(_ work: @escaping Work) {
    let turn = Turn(self)
    pool.submit { [self] poolState in
      if case .active = poolState { return work(turn) }
      // One after the other here, and not each by the end of the one before: there may be thousands.
      work(nil)
      while let next = takeNext() { next(nil) }
    }
  }

  private func takeNext() -> Work? { state.withLock { $0.waiting.popFirst() } }

  private func endTurn() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.running -= 1 }
      return next
    }
    if let next { begin(next) }
  }
}
