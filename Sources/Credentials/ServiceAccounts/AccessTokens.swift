import Crypto
import TextFormats
import TreeModel

/// Issues and reads the access tokens of service accounts.
///
/// A token is what it grants, with a code over it (HMAC-SHA256) that only this server can make: reading one needs no
/// database. Its secret is derived from a signing key of the ring, so it changes and is kept with those. It begins like
/// Google's, because clients recognise access tokens by that.
package struct AccessTokens: Sendable {
  /// How long a token is valid at most, in seconds.
  package static let lifetimeMax: Int64 = 3600
  /// What every access token begins with.
  package static let prefix = "ya29.doubloon."

  private let keys: CurrentKeys

  package init(keys: CurrentKeys) {
    self.keys = keys
  }

  /// The text of a token for the grant.
  ///
  /// - `now`: milliseconds since 1970.
  package func token(for grant: AccessGrant, at now: Int64) -> String {
    let key = keys.ring.signingKey(at: now)
    let json: JSON = [
      "a": .string(grant.account), "k": .string(grant.keyID.text), "r": .string(grant.role.rawValue),
      "e": .int(grant.expiresAt), "s": .string(key.id.text),
    ]
    var writer = JSONWriter()
    writer.write(json)
    let body = Base64.encode(writer.bytes, as: .url)
    let code = HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: key.derivedSecret)
    return Self.prefix + body + "." + Base64.encode(code, as: .url)
  }

  /// What a token grants.
  ///
  /// The caller still asks whether the account's key was revoked since.
  ///
  /// - Throws: ``TokenError``
  package func grant(_ text: String, at now: Int64) throws(TokenError) -> AccessGrant {
    guard text.hasPrefix(Self.prefix), text.utf8.count <= 2048 else {
      throw .malformed("it is no access token of this server.")
    }
    let parts = text.utf8.dropFirst(Self.prefix.utf8.count).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 2, let bytes = Base64.decode(parts[0]), let code = Base64.decode(parts[1]),
      let json = try? JSONParser.parse(bytes, depthMax: 2), let signer = json["s"]?.string
    else { throw .malformed("it is no access token of this server.") }
    guard let key = keys.ring.key(KeyID(signer)) else { throw .unknownKey(KeyID(signer)) }
    guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(parts[0]), using: key.derivedSecret) else {
      throw .badSignature
    }
    guard let account = json["a"]?.string, let id = json["k"]?.string, let role = json["r"]?.string.flatMap(AdminRole.init),
      let expiresAt = json["e"]?.int
    else { throw .malformed("it grants nothing that is known here.") }
    guard now / 1000 < expiresAt else { throw .expired }
    return AccessGrant(account: account, keyID: KeyID(id), role: role, expiresAt: expiresAt)
  }
}

/// What an access token stands for: a service account, at work until a time.
package struct AccessGrant: Sendable, Hashable {
  /// The account's name.
  package let account: String
  /// The key that it was bought with: a revoked key's grants are void.
  package let keyID: KeyID
  /// What it may do.
  package let role: AdminRole
  /// When it ends, in seconds since 1970.
  package let expiresAt: Int64

  package init(account: String, keyID: KeyID, role: AdminRole, expiresAt: Int64) {
    self.account = account
    self.keyID = keyID
    self.role = role
    self.expiresAt = expiresAt
  }
}

/// What a service account may do. Each role may all that the ones before it may.
package enum AdminRole: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Reads.
  case viewer
  /// Repairs: replays, reversals, resumed functions, holds that end.
  case support
  /// Everything, the tree past its rules included.
  case admin

  package static func < (left: AdminRole, right: AdminRole) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .viewer: 0
    case .support: 1
    case .admin: 2
    }
  }
}
