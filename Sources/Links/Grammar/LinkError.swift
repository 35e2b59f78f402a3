/// Why a request about links is refused; nothing was created or counted.
package struct LinkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Google's canonical code, with its HTTP status (spec: links-messaging §2).
  package enum Status: String, Sendable, Hashable {
    case invalidArgument = "INVALID_ARGUMENT"
    case unauthenticated = "UNAUTHENTICATED"
    case permissionDenied = "PERMISSION_DENIED"
    case notFound = "NOT_FOUND"
    case alreadyExists = "ALREADY_EXISTS"
    case failedPrecondition = "FAILED_PRECONDITION"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case unavailable = "UNAVAILABLE"

    /// The HTTP status of an answer with this code.
    package var code: Int {
      switch self {
      case .invalidArgument, .failedPrecondition: 400
      case .unauthenticated: 401
      case .permissionDenied: 403
      case .notFound: 404
      case .alreadyExists: 409
      case .resourceExhausted: 429
      case .unavailable: 503
      }
    }
  }

  /// For programs.
  package let status: Status
  /// For people: what is wrong, and what to do.
  package let message: String
  /// For programs that need to know more than the status: one word, or empty.
  package let reason: String

  package init(_ status: Status, _ message: String, reason: String = "") {
    self.status = status
    self.message = message
    self.reason = reason
  }

  /// Of a link that an administrator has switched off.
  package static let disabled = LinkError(.notFound, "The link was disabled by an administrator.", reason: "disabled")

  static func invalid(_ message: String) -> LinkError { LinkError(.invalidArgument, message) }

  package var description: String { message }
}
