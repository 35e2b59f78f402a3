/// How replays work; every cap in one place.
public struct ReplayOptions: Sendable {
  /// Replays that wait for their turn.
  static let queueMax = 100

  /// Pairs of event and function that are on their way at once: what a live event may find before it. A commit with more
  /// events than that is still given whole.
  public var pairsMax: Int
  /// Runs that a preview, or a dry run, makes at most; it says so when there would be more.
  public var trialsMax: Int

  /// Options; the defaults leave room for live events. A number below 1 is a mistake of the programmer and traps.
  public init(pairsMax: Int = 64, trialsMax: Int = 2000) {
    precondition(pairsMax > 0 && trialsMax > 0, "A replay gives at least one event at a time.")
    self.pairsMax = pairsMax
    self.trialsMax = trialsMax
  }
}
