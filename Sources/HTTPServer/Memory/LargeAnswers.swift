import DequeModule
package import NIOPosix
import Synchronization

/// Makes answers that are too large for an event loop on other threads, a few at a time.
///
/// An answer takes several times its size while it is made: rows, nodes, text. The next is begun only when one of those before
/// is with its connection, which counts it in ``MemoryBudgets/output``: however many clients ask for something large at
/// once, what is not counted there stays a few answers.
///
/// So many may wait; of more one is refused. A client that has gone leaves its place to the next: it is not worked for.
package final class LargeAnswers: Sendable {
  /// The right to make one answer. It ends with its last reference: hand it on with the answer, until that is counted.
  package final class Turn: Sendable {
    private let answers: LargeAnswers

    fileprivate init(_ answers: LargeAnswers) { self.answers = answers }

    deinit { answers.endTurn() }
  }

  /// Makes an answer; without a turn the server is shutting down, and the client is told so.
  package typealias Work = @Sendable (Turn?) -> Void

  /// An answer that is to be made.
  private struct Order: Sendable {
    let client: ClientPresence
    let work: Work
  }

  private struct State {
    var running = 0
    /// Oldest first.
    var waiting: Deque<Order> = []
  }

  /// Answers that may wait.
  package static let waitingMax = 1024

  private let pool: NIOThreadPool
  private let atOnceMax: Int
  private let state = Mutex(State())

  /// - `atOnceMax`: answers that are made, or on their way to their connections, at the same time.
  package init(on pool: NIOThreadPool, atOnceMax: Int = 2) {
    precondition(atOnceMax > 0, "Without a turn nobody is ever answered.")
    self.pool = pool
    self.atOnceMax = atOnceMax
  }

  /// Runs `work` on a thread of the pool as soon as it has a turn, in the order of the calls; not at all once the client has
  /// gone.
  ///
  /// - Returns: false if too many wait: then it is not run.
  package func submit(for client: ClientPresence, _ work: @escaping Work) -> Bool {
    let (begins, isTaken) = state.withLock { state in
      guard state.running >= atOnceMax else {
        state.running += 1
        return (true, true)
      }
      guard state.waiting.count < Self.waitingMax else { return (false, false) }
      state.waiting.append(Order(client: client, work: work))
      return (false, true)
    }
    if begins { begin(work) }
    return isTaken
  }

  private func begin(_ work: @escaping Work) {
    let turn = Turn(self)
    pool.submit { [self] poolState in
      if case .active = poolState { return work(turn) }
      // One after the other here, and not each by the end of the one before: there may be thousands.
      work(nil)
      while let next = state.withLock({ $0.waiting.popFirst() }) { next.work(nil) }
    }
  }

  private func endTurn() {
    var dropped: [Order] = []
    let next = state.withLock { state -> Work? in
      while let next = state.waiting.popFirst() {
        if !next.client.hasGone { return next.work }
        // What it holds is let go without the lock.
        dropped.append(next)
      }
      state.running -= 1
      return nil
    }
    dropped = []
    if let next { begin(next) }
  }
}

/// Whether somebody still waits for an answer. From any thread.
package final class ClientPresence: Sendable {
  private let gone = Atomic(false)

  package init() {}

  package var hasGone: Bool { gone.load(ordering: .relaxed) }

  /// The client has gone, for good.
  package func leave() { gone.store(true, ordering: .relaxed) }
}
