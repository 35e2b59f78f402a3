/// Thrown by a function that wants to be tried again after a time of its own choice.
public struct RetryLater: Error, Sendable, CustomStringConvertible {
  /// How long to wait, in place of the policy's delay. The attempt counts as a failed one.
  public let delay: Duration
  /// Why; shown with the waiting delivery.
  public let reason: String

  public init(after delay: Duration, _ reason: String) {
    self.delay = delay
    self.reason = reason
  }

  public var description: String { reason }
}
