/// What an access token stands for: a service account, at work until a time.
public struct AccessGrant: Sendable, Hashable {
  /// The account's name.
  public let account: String
  /// The key that it was bought with: a revoked key's grants are void.
  public let keyID: KeyID
  /// What it may do.
  public let role: AdminRole
  /// When it ends, in seconds since 1970.
  public let expiresAt: Int64

  public init(account: String, keyID: KeyID, role: AdminRole, expiresAt: Int64) {
    self.account = account
    self.keyID = keyID
    self.role = role
    self.expiresAt = expiresAt
  }
}
