/// Thrown by a function that knows that trying again is useless: the event becomes a dead letter at once.
public struct PermanentFailure: Error, Sendable, CustomStringConvertible {
  /// Why; shown with the dead letter.
  public let reason: String

  public init(_ reason: String) {
    self.reason = reason
  }

  public var description: String { reason }
}
