/// Is told what becomes of a node's working copy, on the thread of its ``CopyFollower``.
protocol CopyWatching: Sendable {
  /// The copy in a data folder is one that PostgreSQL knows.
  func didOpen(_ folder: String)
  /// What others see of these tables will be different from now on.
  func willShow(_ tables: Set<String>)
  /// It is, or it could not be made so.
  func didShow(_ tables: Set<String>)
  /// The copy has everything that there was at this time, by the monotonic clock.
  func didCompare(at time: Int64)
  /// The copy is closed next, and perhaps removed.
  func willClose()
}

/// Since when a server may not be the one any more that takes the batches: an old primary may answer on, with what was.
///
/// Of one that takes the beats of the node that leads that is known: they are commits that wait for a standby. Between two looks that
/// show different beats, of one connection, it was the one.
struct BeatWatch {
  private var last: (fence: Int64, beat: Int64, askedAt: Int64)?
  /// Until when it surely was, by the monotonic clock; nil before that was seen.
  private(set) var provenAt: Int64?

  /// Takes in a look.
  ///
  /// - `time`: when it was asked for.
  mutating func see(fence: Int64, beat: Int64, askedAt time: Int64) {
    if let last, (fence, beat) > (last.fence, last.beat) { provenAt = last.askedAt }
    last = (fence, beat, time)
  }
}
