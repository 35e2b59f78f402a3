/// A player who showed the first credential, and is asked for the second.
struct PendingSignIn: Sendable {
  let project: String
  let uid: String
  /// What the first was.
  let provider: String
  /// The password as it was, and what was void, when the first was looked at: if either changed since, it says nothing.
  let password: String?
  let validSince: Int64?
  let expiresAt: Int64
  /// Wrong codes so far.
  var failures = 0
}
