/// The kinds of records that payments with terms leave beside the tree. For the engine.
public enum RewardRecord {
  /// `CODE/LIMIT/SUBJECT`: the day and how many payments it had.
  public static let count = "reward-count"
  /// `PLAYER/BUSINESS KEY`: a reward that waits until the player's address is confirmed (``WaitingReward``).
  public static let unconfirmed = "reward-unconfirmed"
}
