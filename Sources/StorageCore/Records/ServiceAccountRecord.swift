/// A service account, as storage keeps it: what its key file says, without the secret.
///
/// It belongs to the server, not to a namespace. A name may come again once its account was revoked; a key never does.
public struct ServiceAccountRecord: Sendable, Hashable {
  /// Its name, such as `ci`.
  public let name: String
  /// The name of its key, unique.
  public let keyID: String
  /// Its mail address: what it calls itself in what it signs.
  public let email: String
  /// What it may do: `viewer`, `support` or `admin`.
  public let role: String
  /// The public half of its key, in PEM.
  public let publicKey: String
  /// Where its key file says that tokens are to be had: what its assertions must be meant for.
  public let tokenURI: String
  /// When it was made, in milliseconds since 1970.
  public let createdAt: Int64
  /// Who made it.
  public let createdBy: Actor
  /// When it was revoked, in milliseconds since 1970; nil while it is good.
  public var revokedAt: Int64?

  public init(
    name: String, keyID: String, email: String, role: String, publicKey: String, tokenURI: String, createdAt: Int64,
    createdBy: Actor, revokedAt: Int64? = nil
  ) {
    self.name = name
    self.keyID = keyID
    self.email = email
    self.role = role
    self.publicKey = publicKey
    self.tokenURI = tokenURI
    self.createdAt = createdAt
    self.createdBy = createdBy
    self.revokedAt = revokedAt
  }
}
