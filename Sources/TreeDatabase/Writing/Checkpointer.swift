#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import StorageCore
import Synchronization

/// Moves what was committed from the log file into the main file, and merges the history, on a thread of its own, so that
/// no write pays for it.
final class Checkpointer: Sendable {
  /// How many requests are committed between two checkpoints, unless they are large.
  static let interval = 4096
  /// How long a merge leaves the store to the writer after each piece, in microseconds.
  static let pause: UInt32 = 2000

  private let engine: any StorageEngine
  /// Requests that were told since the last checkpoint.
  private let pending = Pending()
  /// Holds a token when there is something to do: the thread sleeps while there is not.
  private let queue = WriterQueue<Void>(capacity: 1)
  private let thread: BlockingThread

  private final class Pending: Sendable {
    let count = Atomic<Int>(0)
  }

  init(engine: any StorageEngine) {
    let (queue, pending) = (queue, pending)
    self.engine = engine
    thread = BlockingThread {
      // A merge that the last process began goes on at once.
      var isTidy = false
      while (isTidy ? queue.take(1) : queue.takeNow(1)) != nil {
        if Self.isDue(pending, engine: engine) {
          pending.count.store(0, ordering: .relaxed)
          // A checkpoint that fails loses nothing: the log keeps everything, and the next one tries again. A disk that
          // refuses for good is met by the writer, who stops.
          try? engine.checkpoint()
          isTidy = false
        }
        if isTidy { continue }
        // Nor does a merge that fails: the runs that it began with are there until it is whole.
        isTidy = (try? engine.compact()) != true
        if !isTidy { usleep(Self.pause) }
      }
    }
  }

  /// Takes note of commits; wakes the thread when it has something to do, and not for each batch.
  func didCommit(_ count: Int) {
    pending.count.add(count, ordering: .relaxed)
    // Full: the thread is on its way, and looks for itself.
    if Self.isDue(pending, engine: engine) { _ = queue.push(()) }
  }

  private static func isDue(_ pending: Pending, engine: any StorageEngine) -> Bool {
    pending.count.load(ordering: .relaxed) >= interval || engine.isCheckpointDue
  }

  func stop() {
    queue.close()
    thread.join()
  }
}
