/// Events were not settled in time; those that still run or are queued come first.
public struct DrainTimeout: Error, Sendable, CustomStringConvertible {
  /// What was not finished when the time was over.
  public let unsettled: [UnsettledDelivery]

  public var description: String {
    let shown = unsettled.prefix(10).map(\.description).joined(separator: "; ")
    return "The events were not settled in time. Wait longer, or look at these: \(shown)"
  }
}
