import StorageCore

/// A player who showed the first credential, and is asked for the second.
struct PendingSignIn: Sendable {
  /// How many codes a player may try.
  static let attemptsMax = 5

  let project: String
  let uid: String
  /// What the first was.
  let provider: String
  /// The password as it was, and what was void, when the first was looked at: if either changed since, it says nothing.
  let password: String?
  let validSince: Int64?
  let expiresAt: Int64
  /// What the sign-in changes once it is complete.
  let edit: @Sendable (inout AccountRecord) -> Void
  /// Codes that were tried.
  var attempts = 0
}
