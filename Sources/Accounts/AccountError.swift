import StorageCore

/// Why a call about accounts was refused, in the protocol's own words: a code, and after ` : ` a sentence
/// (spec: auth-protocol §2.0).
package struct AccountError: Error, Sendable, Hashable {
  /// What the client reads: `WEAK_PASSWORD : Password should be at least 6 characters`.
  package let message: String
  /// The HTTP status; 400 for everything that logic refuses.
  package let status: Int
  /// Google's name of the status, where the protocol gives one.
  package let statusName: String?

  package init(_ code: String, _ detail: String? = nil) {
    message = detail.map { "\(code) : \($0)" } ?? code
    status = 400
    statusName = nil
  }

  /// A message as it goes over the wire.
  init(wire message: String) {
    self.message = message
    status = 400
    statusName = nil
  }

  private init(message: String, status: Int, statusName: String) {
    self.message = message
    self.status = status
    self.statusName = statusName
  }

  /// The code without the sentence.
  package var code: String { message.split(separator: " ", maxSplits: 1).first.map(String.init) ?? message }

  /// A way in beside which no second factor can be asked for.
  static let unsupportedFirstFactor = AccountError(
    "UNSUPPORTED_FIRST_FACTOR", "MFA is not available for the given first factor.")

  /// An address that nobody has shown to own is not enough: for an account with second factors, or where addresses are secret.
  static let unverifiedChange = AccountError(
    "OPERATION_NOT_ALLOWED", "Please verify the new email before changing email.")

  /// A body that is no JSON object, or a field of another type.
  package static func invalidArgument(_ text: String) -> AccountError {
    AccountError(message: text, status: 400, statusName: "INVALID_ARGUMENT")
  }

  /// Credentials that are nobody's.
  package static func unauthenticated(_ text: String) -> AccountError {
    AccountError(message: text, status: 401, statusName: "UNAUTHENTICATED")
  }

  /// No credentials, or not enough of them.
  package static func permissionDenied(_ text: String) -> AccountError {
    AccountError(message: text, status: 403, statusName: "PERMISSION_DENIED")
  }

  /// No such method, or no such project.
  package static func notFound(_ text: String) -> AccountError {
    AccountError(message: text, status: 404, statusName: "NOT_FOUND")
  }

  /// What the protocol has and this server does not.
  package static func notImplemented(_ text: String) -> AccountError {
    AccountError(message: text, status: 501, statusName: "NOT_IMPLEMENTED")
  }

  /// The store cannot be read or written; nothing was changed.
  package static func unavailable(_ text: String) -> AccountError {
    AccountError(message: text, status: 503, statusName: "UNAVAILABLE")
  }

  init(_ error: StorageError) {
    self = .unavailable(error.message)
  }

  /// What the writer refused.
  init(_ refusal: CommitError) {
    switch refusal.code {
    case .account: self.init(wire: refusal.message)
    case .overloaded, .unavailable: self = .unavailable(refusal.message)
    default: self = .invalidArgument(refusal.message)
    }
  }

  /// The same for the writer.
  var refusal: CommitError { CommitError(.account(code: code), message) }
}
