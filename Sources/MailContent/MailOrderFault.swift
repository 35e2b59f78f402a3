/// Why an order can never be sent.
public struct MailOrderFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  public var description: String { message }
}
