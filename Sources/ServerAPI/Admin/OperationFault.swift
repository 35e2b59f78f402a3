/// Why an administrator's action was not carried out.
public struct OperationFault: Error, Sendable, Hashable {
  /// What kind of reason; the text is what clients see.
  public enum Code: String, Sendable, Hashable {
    case notFound = "not_found"
    case conflict
    case invalid = "invalid_argument"
    case unavailable
  }

  /// What kind of reason.
  public let code: Code
  /// What is wrong, and what to do.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
