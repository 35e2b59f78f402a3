/// What a drain left behind: deliveries that wait for a retry, are paused, or are dead letters.
public struct DrainReport: Sendable, Hashable {
  /// What is left, each for an attempt, a function or a person to come; empty if every event ended well.
  public let unsettled: [UnsettledDelivery]

  public init(unsettled: [UnsettledDelivery]) {
    self.unsettled = unsettled
  }
}
