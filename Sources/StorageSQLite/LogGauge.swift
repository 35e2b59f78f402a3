internal import CSQLite
internal import Synchronization

/// How much of the log file no checkpoint has moved yet.
///
/// A read that misses its cache looks for the page in all of that part, and a start after a crash reads it: a few commits of
/// ten thousand leaves each can make it large, as can the building of an index.
final class LogGauge: Sendable {
  /// Pages in the log after the writer's last transaction; those of merges are among them.
  private let frames = Atomic<Int>(0)
  /// So many of them were moved.
  private let moved = Atomic<Int>(0)
  /// More unmoved pages than this make a checkpoint due.
  private let allowed: Atomic<Int>
  private let allowedAtFirst: Int

  init(allowing frames: Int) {
    allowedAtFirst = frames
    allowed = Atomic(frames)
  }

  /// Pages that only the log has.
  private var unmovedFrames: Int {
    let (frames, moved) = (frames.load(ordering: .relaxed), moved.load(ordering: .relaxed))
    // The log may begin anew between a checkpoint and what is told of it: then nothing that is there now was moved.
    return frames < moved ? frames : frames - moved
  }

  /// Whether too many pages are in the log alone.
  var isOver: Bool { unmovedFrames > allowed.load(ordering: .relaxed) }

  /// Is told of each of the writer's transactions from now on. The gauge must outlive the connection.
  func watch(_ connection: SQLiteConnection) {
    sqlite3_wal_hook(
      connection.handle,
      { gauge, _, _, frames in
        guard let gauge else { return SQLITE_OK }
        Unmanaged<LogGauge>.fromOpaque(gauge).takeUnretainedValue().didCommit(frames: Int(frames))
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func didCommit(frames count: Int) {
    // The log began anew.
    guard count < frames.exchange(count, ordering: .relaxed) else { return }
    moved.store(0, ordering: .relaxed)
    allowed.store(allowedAtFirst, ordering: .relaxed)
  }

  /// A checkpoint has moved so many pages. What it had to leave, because of a long read, is tried again once as much again
  /// was written, and not with each transaction.
  func didMove(frames count: Int) {
    moved.store(count, ordering: .relaxed)
    let rest = unmovedFrames
    allowed.store(rest > allowedAtFirst ? rest + allowedAtFirst : allowedAtFirst, ordering: .relaxed)
  }
}
