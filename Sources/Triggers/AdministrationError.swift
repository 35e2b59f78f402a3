/// What was asked of the dispatcher cannot be done.
public struct AdministrationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was wrong, and what to do: a sentence for whoever asked.
  public let message: String

  init(_ message: String) {
    self.message = message
  }

  static func unknownFunction(_ name: String) -> AdministrationError {
    AdministrationError("No function is called \"\(name)\". List the functions to see their names.")
  }

  public var description: String { message }
}
