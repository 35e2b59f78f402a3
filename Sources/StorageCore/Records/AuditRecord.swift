internal import Crypto

/// One admin action, allowed or refused, as the audit log keeps it.
public struct AuditRecord: Sendable, Hashable {
  /// Milliseconds since 1970.
  public let time: Int64
  /// Who asked, also where it was refused.
  public let actor: Actor
  /// What was asked, such as `ledger.reverse`.
  public let action: String
  /// The arguments, as JSON, without secrets.
  public let detail: String
  /// `ok`, or why it was refused.
  public let result: String

  public init(time: Int64, actor: Actor, action: String, detail: String, result: String) {
    self.time = time
    self.actor = actor
    self.action = action
    self.detail = detail
    self.result = result
  }
}

extension AuditRecord {
  /// What the first record of the chain follows on.
  public static let genesisHash = [UInt8](repeating: 0, count: 32)

  /// The hash of a record in the audit log: SHA-256 over the hash of the one before it, its place and everything in it.
  public func chainHash(position: Int64, previous: [UInt8]) -> [UInt8] {
    var writer = ByteWriter(capacity: 200)
    writer.write(text: "doubloon.audit.1")
    writer.write(bytes: previous)
    writer.write(signed: position)
    writer.write(signed: time)
    writer.write(text: actor.description)
    writer.write(text: action)
    writer.write(text: detail)
    writer.write(text: result)
    return SHA256.hash(data: writer.bytes).withUnsafeBytes(Array.init)
  }
}

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
