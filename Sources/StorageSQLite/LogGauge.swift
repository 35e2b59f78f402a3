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

  /// Pages that only the log has.
  var unmovedFrames: Int {
    let (frames, moved) = (frames.load(ordering: .relaxed), moved.load(ordering: .relaxed))
    // The log may begin anew between a checkpoint and what is told of it: then nothing that is there now was moved.
    return frames < moved ? frames : frames - moved
  }

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
    if count < frames.exchange(count, ordering: .relaxed) { moved.store(0, ordering: .relaxed) }
  }

  func didMove(frames count: Int) {
    moved.store(count, ordering: .relaxed)
  }
}
