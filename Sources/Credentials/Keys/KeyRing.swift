public import TreeModel

/// The keys that sign this server's tokens, now, before and next.
///
/// One fact about each key decides everything: from when on it signs. The key that signs is the one whose time came last;
/// it is published before its time comes, so that whoever keeps the published keys for a while knows it when it signs, and
/// after its time, so that what it signed can be checked to its end (spec: auth-protocol §3.2).
public struct KeyRing: Sendable {
  /// A key and its time.
  public struct Entry: Sendable {
    /// The key.
    public let key: SigningKey
    /// From when on it signs, in milliseconds since 1970.
    public let signsFrom: Int64

    public init(key: SigningKey, signsFrom: Int64) {
      self.key = key
      self.signsFrom = signsFrom
    }
  }

  /// How long a key signs: 30 days, in milliseconds.
  public static let period: Int64 = 30 * 86_400_000
  /// How long a key is published before it signs: twice of what the published keys may be kept (``cacheSeconds``).
  public static let lead: Int64 = 2 * 3_600_000
  /// How long a key is published after it signed for the last time: a session cookie lives for 14 days, and a day more.
  public static let retention: Int64 = 15 * 86_400_000
  /// For how long others may keep the published keys (`Cache-Control: max-age`), in seconds.
  public static let cacheSeconds = 3600

  /// All keys, the oldest first. Never empty.
  public let entries: [Entry]
  private let byID: [KeyID: VerificationKey]

  /// - Precondition: there is a key.
  public init(_ entries: [Entry]) {
    precondition(!entries.isEmpty, "A key ring needs a key. Make one with SigningKey.generate().")
    self.entries = entries.sorted { ($0.signsFrom, $0.key.id.text) < ($1.signsFrom, $1.key.id.text) }
    byID = Dictionary(entries.map { ($0.key.id, $0.key.verificationKey) }, uniquingKeysWith: { first, _ in first })
  }

  /// The key that signs at a time: the last whose time has come. If the clock was set back behind all of them, the first.
  public func signingKey(at now: Int64) -> SigningKey {
    (entries.last { $0.signsFrom <= now } ?? entries[0]).key
  }

  /// The public key of a name; nil if it is not on the ring.
  public func verificationKey(_ id: KeyID) -> VerificationKey? { byID[id] }

  /// The whole key of a name; nil if it is not on the ring.
  func key(_ id: KeyID) -> SigningKey? { entries.first { $0.key.id == id }?.key }

  /// Checks that a token was signed by a key of the ring.
  ///
  /// - Throws: ``TokenFault/unknownKey(_:)``, ``TokenFault/badSignature``, ``TokenFault/unsupportedAlgorithm(_:)``.
  public func check(_ token: WebToken) throws(TokenFault) {
    guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
    guard let id = token.keyID, let key = byID[id] else { throw .unknownKey(token.keyID) }
    try token.check(signature: key)
  }
}

extension KeyRing {
  /// From when on the next key should sign, if it is time to make one; nil if it is not.
  public func nextStart(at now: Int64) -> Int64? {
    guard let newest = entries.last, newest.signsFrom + Self.period - Self.lead <= now else { return nil }
    return max(newest.signsFrom + Self.period, now + Self.lead)
  }

  /// The ring with one key more.
  public func adding(_ key: SigningKey, from signsFrom: Int64) -> KeyRing {
    KeyRing(entries + [Entry(key: key, signsFrom: signsFrom)])
  }

  /// The keys that nothing valid can be signed with any more: their files can go.
  public func outlived(at now: Int64) -> [KeyID] {
    zip(entries, entries.dropFirst()).filter { _, next in next.signsFrom + Self.retention < now }.map { $0.0.key.id }
  }

  /// The ring without some keys. The newest stays in any case.
  public func removing(_ ids: [KeyID]) -> KeyRing {
    let newest = entries[entries.count - 1].key.id
    return KeyRing(entries.filter { $0.key.id == newest || !ids.contains($0.key.id) })
  }
}

extension KeyRing {
  /// The public keys as a JWKS (RFC 7517).
  public var jwks: JSON { ["keys": .array(entries.map(\.key.jwk))] }

  /// The public keys as certificates, `{kid: PEM}`, as admin SDKs read them (spec: auth-protocol §3.2).
  public func certificates() throws(TokenFault) -> JSON {
    var members: [JSON.Member] = []
    for entry in entries {
      let certificate = try SelfSignedCertificate(of: entry.key, from: entry.signsFrom)
      members.append(JSON.Member(key: entry.key.id.text, value: .string(certificate.pem)))
    }
    return .object(members)
  }
}
