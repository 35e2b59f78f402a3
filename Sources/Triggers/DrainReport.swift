/// What a drain left behind: deliveries that wait for a retry, are paused, or are dead letters.
public struct DrainReport: Sendable, Hashable {
  public let unsettled: [UnsettledDelivery]

  public init(unsettled: [UnsettledDelivery]) {
    self.unsettled = unsettled
  }
}
