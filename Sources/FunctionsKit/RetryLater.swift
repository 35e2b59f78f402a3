/// Thrown by a function that wants to be tried again after a time of its own choice.
public struct RetryLater: Error, Sendable, CustomStringConvertible {
  public let delay: Duration
  public let reason: String

  public init(after delay: Duration, _ reason: String) {
    self.delay = delay
    self.reason = reason
  }

  public var description: String { reason }
}
