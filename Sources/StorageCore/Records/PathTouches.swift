/// Which commits touched a place, as far as it was looked.
public struct PathTouches: Sendable, Hashable {
  /// Newest first, each once.
  public let revisions: [Revision]
  /// Every commit from this one on was looked at; what touched the place before it is found by asking again.
  public let scannedThrough: Revision
  /// Whether that was the beginning of what the log remembers.
  public let isComplete: Bool
  /// Up to here the past was forgotten; zero if nothing was.
  public let prunedThrough: Revision

  public init(revisions: [Revision], scannedThrough: Revision, isComplete: Bool, prunedThrough: Revision) {
    self.revisions = revisions
    self.scannedThrough = scannedThrough
    self.isComplete = isComplete
    self.prunedThrough = prunedThrough
  }
}
