import StorageCore

/// Moves what was committed from the log file into the main file, on a thread of its own, so that no write pays for it.
final class Checkpointer: Sendable {
  /// How many requests are committed between two checkpoints.
  static let interval = 4096

  private enum Message {
    case committed(Int)
  }

  private let queue = WriterQueue<Message>(capacity: 1024)
  private let thread: PlainThread

  init(engine: any StorageEngine) {
    let queue = queue
    thread = PlainThread {
      var pending = 0
      while let messages = queue.take(1024) {
        for case .committed(let count) in messages { pending += count }
        guard pending >= Self.interval else { continue }
        pending = 0
        // A checkpoint that fails loses nothing: the log keeps everything, and the next one tries again. A disk that
        // refuses for good is met by the writer, who stops.
        try? engine.checkpoint()
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
