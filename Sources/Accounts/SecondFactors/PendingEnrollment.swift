import Credentials

/// An authenticator that a player was given the secret of, and has shown no code of yet.
struct PendingEnrollment: Sendable {
  let project: String
  let uid: String
  let secret: AuthenticatorSecret
  let expiresAt: Int64
}
