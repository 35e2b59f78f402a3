#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import StorageCore

/// Moves what was committed from the log file into the main file, and merges the history, on a thread of its own, so that
/// no write pays for it.
final class Checkpointer: Sendable {
  /// How many requests are committed between two checkpoints, unless they are large.
  static let interval = 4096
  /// How long a merge leaves the store to the writer after each piece, in microseconds.
  static let pause: UInt32 = 2000

  private enum Message {
    case committed(Int)
  }

  private let queue = WriterQueue<Message>(capacity: 1024)
  private let thread: PlainThread

  init(engine: any StorageEngine) {
    let queue = queue
    thread = PlainThread {
      var pending = 0
      // A log that a long read keeps large is tried again after the usual number of commits, not after each.
      var looksAtSize = true
      // A merge that the last process began goes on at once.
      var isTidy = false
      while let messages = isTidy ? queue.take(1024) : queue.takeNow(1024) {
        for case .committed(let count) in messages { pending += count }
        if pending >= Self.interval || (looksAtSize && engine.isCheckpointDue) {
          pending = 0
          // A checkpoint that fails loses nothing: the log keeps everything, and the next one tries again. A disk that
          // refuses for good is met by the writer, who stops.
          try? engine.checkpoint()
          looksAtSize = !engine.isCheckpointDue
          isTidy = false
        }
        if isTidy { continue }
        // Nor does a merge that fails: the runs that it began with are there until it is whole.
        isTidy = (try? engine.compact()) != true
        if !isTidy { usleep(Self.pause) }
      }
    }
  }

  /// Takes note of commits. If the checkpointer is behind, a note is dropped: the next one counts.
  func didCommit(_ count: Int) {
    _ = queue.push(.committed(count))
  }

  func stop() {
    queue.close()
    thread.join()
  }
}
