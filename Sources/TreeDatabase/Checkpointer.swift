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
  private let due: Due
  /// Holds a token when there is something to do: the thread sleeps while there is not.
  private let queue = WriterQueue<Void>(capacity: 1)
  private let thread: PlainThread

  /// When the next checkpoint is due; of two threads.
  private final class Due: Sendable {
    /// Requests that were committed since the last checkpoint.
    let pending = Atomic<Int>(0)
    /// A log that a long read keeps large is tried again after the usual number of commits, not after each.
    let looksAtSize = Atomic<Bool>(true)

    func isNow(_ engine: any StorageEngine) -> Bool {
      pending.load(ordering: .relaxed) >= interval || (looksAtSize.load(ordering: .relaxed) && engine.isCheckpointDue)
    }
  }

  init(engine: any StorageEngine) {
    let (queue, due) = (queue, Due())
    self.engine = engine
    self.due = due
    thread = PlainThread {
      // A merge that the last process began goes on at once.
      var isTidy = false
      while (isTidy ? queue.take(1) : queue.takeNow(1)) != nil {
        if due.isNow(engine) {
          due.pending.store(0, ordering: .relaxed)
          // A checkpoint that fails loses nothing: the log keeps everything, and the next one tries again. A disk that
          // refuses for good is met by the writer, who stops.
          try? engine.checkpoint()
          due.looksAtSize.store(!engine.isCheckpointDue, ordering: .relaxed)
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
    due.pending.add(count, ordering: .relaxed)
    // Full: the thread is on its way, and looks for itself.
    if due.isNow(engine) { _ = queue.push(()) }
  }

  func stop() {
    queue.close()
    thread.join()
  }
}
