/// Why an administrator's action was not carried out.
package struct OperationFault: Error, Sendable, Hashable {
  /// What kind of reason; the text is what clients see.
  package enum Code: String, Sendable, Hashable {
    case notFound = "not_found"
    case conflict
    case invalid = "invalid_argument"
    case unavailable
  }

  /// What kind of reason.
  package let code: Code
  /// What is wrong, and what to do.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
