/// A code that was sent by mail, good for one use. Only a hash of it is stored.
public struct AccountCodeRecord: Sendable, Hashable {
  /// What the code does, by the protocol's names (spec: auth-protocol §2.5).
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case passwordReset = "PASSWORD_RESET"
    case verifyEmail = "VERIFY_EMAIL"
    case emailSignIn = "EMAIL_SIGNIN"
    case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
    case recoverEmail = "RECOVER_EMAIL"
  }

  /// SHA-256 of the code.
  public let hash: [UInt8]
  /// What the code does.
  public let kind: Kind
  /// The address that it went to, and that it acts on.
  public let email: String
  /// The address that it changes to.
  public let newEmail: String?
  /// The account; nil for a sign-in, which may make one.
  public let uid: String?
  /// Milliseconds since 1970.
  public let expiresAt: Int64

  public init(hash: [UInt8], kind: Kind, email: String, newEmail: String? = nil, uid: String?, expiresAt: Int64) {
    self.hash = hash
    self.kind = kind
    self.email = email
    self.newEmail = newEmail
    self.uid = uid
    self.expiresAt = expiresAt
  }
}
