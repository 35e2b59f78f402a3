import NIOCore

/// Whether a client still reads while more waits for it than its socket takes.
///
/// A large snapshot is one write, and the socket counts as full until nearly all of it has left: a client that reads slowly
/// must not be taken for one that reads nothing. Pure.
struct StreamStall {
  /// When something had left for the last time, as far as it was looked at.
  private var since: NIODeadline
  /// How much had left by then.
  private var left: Int

  init(at now: NIODeadline, left: Int) {
    since = now
    self.left = left
  }

  /// Whether nothing has left for so long.
  ///
  /// - Parameter left: bytes that have left by now.
  mutating func isOver(after limit: TimeAmount, at now: NIODeadline, left: Int) -> Bool {
    guard left <= self.left else {
      self.left = left
      since = now
      return false
    }
    return since + limit <= now
  }
}
