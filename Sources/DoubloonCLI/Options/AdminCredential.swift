import Credentials

/// What a command signs in with.
enum AdminCredential: Sendable {
  /// A secret that is sent as it is.
  case token(String)
  /// A key that buys an access token first.
  case serviceAccount(ServiceAccountKey)
}
