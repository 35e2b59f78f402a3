import Synchronization
package import TreeModel

/// The keys that sign this server's tokens, now, before and next.
///
/// One fact about each key decides everything: from when on it signs. The key that signs is the one whose time came last;
/// it is published before its time comes, so that a reader that keeps the published keys for a while knows it when it signs, and
/// after its time, so that what it signed can be checked to its end.
package struct KeyRing: Sendable {
  /// A key and its time.
  package struct Entry: Sendable {
    /// The key.
    package let key: SigningKey
    /// From when on it signs, in milliseconds since 1970.
    package let signsFrom: Int64

    package init(key: SigningKey, signsFrom: Int64) {
      self.key = key
      self.signsFrom = signsFrom
    }
  }

  /// How long a key signs: 30 days, in milliseconds.
  package static let period: Int64 = 30 * 86_400_000
  /// How long a key is published before it signs: twice of what the published keys may be kept (``cacheSeconds``).
  package static let lead: Int64 = 2 * 3_600_000
  /// How long a key is published after it signed for the last time: a session cookie lives for 14 days, and a day more.
  package static let retention: Int64 = 15 * 86_400_000
  /// For how long others may keep the published keys (`Cache-Control: max-age`), in seconds.
  package static let cacheSeconds = 3600

  /// All keys, the oldest first. Never empty.
  package let entries: [Entry]
  private let byID: [KeyID: VerificationKey]

  /// - Precondition: there is a key.
  package init(_ entries: [Entry]) {
    precondition(!entries.isEmpty, "A key ring needs a key. Make one with SigningKey.generate().")
    self.entries = entries.sorted { ($0.signsFrom, $0.key.id.text) < ($1.signsFrom, $1.key.id.text) }
    byID = Dictionary(entries.map { ($0.key.id, $0.key.verificationKey) }, uniquingKeysWith: { first, _ in first })
  }

  /// The key that signs at a time: the last whose time has come. If the clock was set back behind all of them, the first.
  package func signingKey(at now: Int64) -> SigningKey {
    (entries.last { $0.signsFrom <= now } ?? entries[0]).key
  }

  /// The public key of a name; nil if it is not on the ring.
  package func verificationKey(_ id: KeyID) -> VerificationKey? { byID[id] }

  /// The whole key of a name; nil if it is not on the ring.
  func key(_ id: KeyID) -> SigningKey? { entries.first { $0.key.id == id }?.key }

  /// Checks that a token was signed by a key of the ring.
  ///
  /// - Throws: ``TokenError/unknownKey(_:)``, ``TokenError/badSignature``, ``TokenError/unsupportedAlgorithm(_:)``.
  package func check(_ token: WebToken) throws(TokenError) {
    guard token.algorithm != .none else { throw .unsupportedAlgorithm("none") }
    guard let id = token.keyID, let key = byID[id] else { throw .unknownKey(token.keyID) }
    try token.check(signature: key)
  }
}

extension KeyRing {
  /// From when on the next key should sign, if it is time to make one; nil if it is not.
  package func nextStart(at now: Int64) -> Int64? {
    guard let newest = entries.last, newest.signsFrom + Self.period - Self.lead <= now else { return nil }
    return max(newest.signsFrom + Self.period, now + Self.lead)
  }

  /// The ring with one key more.
  package func adding(_ key: SigningKey, from signsFrom: Int64) -> KeyRing {
    KeyRing(entries + [Entry(key: key, signsFrom: signsFrom)])
  }

  /// The keys that nothing valid can be signed with any more: their files can go.
  package func outlived(at now: Int64) -> [KeyID] {
    zip(entries, entries.dropFirst()).filter { _, next in next.signsFrom + Self.retention < now }.map { $0.0.key.id }
  }

  /// The ring without some keys. The newest stays in any case.
  package func removing(_ ids: [KeyID]) -> KeyRing {
    let newest = entries[entries.count - 1].key.id
    return KeyRing(entries.filter { $0.key.id == newest || !ids.contains($0.key.id) })
  }
}

extension KeyRing {
  /// The public keys as a JWKS (RFC 7517).
  package var jwks: JSON { ["keys": .array(entries.map(\.key.jwk))] }

  /// The public keys as certificates, `{kid: PEM}`, as admin SDKs read them.
  package func certificates() throws(TokenError) -> JSON {
    var members: [JSON.Member] = []
    for entry in entries {
      let certificate = try SelfSignedCertificate(of: entry.key, from: entry.signsFrom)
      members.append(JSON.Member(key: entry.key.id.text, value: .string(certificate.pem)))
    }
    return .object(members)
  }
}

/// The key ring as it is now: signing and verifying ask here, and rotation replaces it.
package final class CurrentKeys: Sendable {
  private struct State {
    var ring: KeyRing?
    var published: PublishedKeys?
  }

  private let state: Mutex<State>
  private let make: @Sendable () -> KeyRing

  package init(_ ring: KeyRing) {
    state = Mutex(State(ring: ring))
    make = { ring }
  }

  /// Keys that are made when they are first asked for: a server in development may never need them, and making one takes
  /// longer than all the rest of its start.
  package init(whenNeeded make: @escaping @Sendable () -> KeyRing) {
    state = Mutex(State())
    self.make = make
  }

  /// The ring.
  package var ring: KeyRing {
    state.withLock { ring(of: &$0) }
  }

  /// Whether there are keys by now.
  package var areMade: Bool { state.withLock { $0.ring != nil } }

  /// Puts another ring in its place; what is signed and verified from now on goes by it.
  package func replace(with ring: KeyRing) { state.withLock { $0 = State(ring: ring) } }

  /// The public keys in the forms that others read; made once for each ring.
  package func published() throws(TokenError) -> PublishedKeys {
    let made = state.withLock { state -> Result<PublishedKeys, TokenError> in
      if let published = state.published { return .success(published) }
      let ring = ring(of: &state)
      return Result { () throws(TokenError) -> PublishedKeys in
        let published = try PublishedKeys(ring)
        state.published = published
        return published
      }
    }
    return try made.get()
  }

  private func ring(of state: inout State) -> KeyRing {
    if let ring = state.ring { return ring }
    let ring = make()
    state.ring = ring
    return ring
  }
}
