/// What was asked of the dispatcher cannot be done.
public struct AdministrationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of reason.
  public enum Code: Sendable, Hashable {
    /// What was named does not exist.
    case notFound
    /// It contradicts the state of things.
    case conflict
    /// The order makes no sense.
    case invalid
  }

  /// What kind of reason.
  public let code: Code
  /// What was wrong, and what to do: a sentence for whoever asked.
  public let message: String

  init(_ message: String) {
    self.init(.notFound, message)
  }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static func unknownFunction(_ name: String) -> AdministrationError {
    AdministrationError("No function is called \"\(name)\". List the functions to see their names.")
  }

  public var description: String { message }
}
