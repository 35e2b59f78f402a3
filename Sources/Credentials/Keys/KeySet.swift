import SwiftASN1
package import TreeModel

/// The public keys of somebody else, as they publish them.
package struct KeySet: Sendable {
  /// How many keys are read of one document.
  package static let countMax = 64
  /// The longest document that is read, in bytes.
  package static let sizeMax = 262_144

  private let byID: [KeyID: VerificationKey]

  /// Keys that are known already.
  package init(_ keys: [KeyID: VerificationKey]) {
    byID = keys
  }

  /// Reads a document: a JWKS, or `{kid: PEM certificate}`. Keys of other kinds in it are passed over.
  ///
  /// - Throws: ``TokenError/malformed(_:)`` if it is neither, or holds no usable key.
  package init(document: [UInt8]) throws(TokenError) {
    guard document.count <= Self.sizeMax, let json = try? JSONParser.parse(document, depthMax: 16) else {
      throw .malformed("the published keys are no JSON object of a reasonable size.")
    }
    try self.init(json: json)
  }

  /// Reads a document that was parsed already.
  ///
  /// - Throws: ``TokenError/malformed(_:)``
  package init(json: JSON) throws(TokenError) {
    guard let members = json.object else { throw .malformed("the published keys are no JSON object.") }
    var keys: [KeyID: VerificationKey] = [:]
    if let list = json["keys"]?.array {
      for jwk in list.prefix(Self.countMax) {
        if let id = jwk["kid"]?.string, let key = VerificationKey(jwk: jwk) { keys[KeyID(id)] = key }
      }
    } else {
      for member in members.prefix(Self.countMax) {
        guard let pem = member.value.string, let key = Self.key(certificate: pem) else { continue }
        keys[KeyID(member.key)] = key
      }
    }
    guard !keys.isEmpty else { throw .malformed("the published keys hold none that can be used here.") }
    byID = keys
  }

  /// The key of a name; nil if it is not there, or there is no name.
  package func key(_ id: KeyID?) -> VerificationKey? { id.flatMap { byID[$0] } }

  /// How many keys there are.
  package var count: Int { byID.count }

  /// The public key of a certificate (RFC 5280 §4.1). The certificate itself is not judged: the place it came from is trusted.
  static func key(certificate pem: String) -> VerificationKey? {
    guard pem.utf8.count <= WebToken.sizeMax, let document = try? PEMDocument(pemString: pem),
      document.discriminator == "CERTIFICATE", let bytes = try? publicKeyBytes(of: document.derBytes)
    else { return nil }
    return try? VerificationKey(der: bytes)
  }

  private static func publicKeyBytes(of certificate: [UInt8]) throws -> [UInt8] {
    try DER.sequence(try DER.parse(certificate), identifier: .sequence) { nodes in
      guard let body = nodes.next() else { throw TokenError.malformed("a certificate is empty.") }
      while nodes.next() != nil {}
      return try DER.sequence(body, identifier: .sequence) { parts in
        var fields: [ASN1Node] = []
        while let node = parts.next() { fields.append(node) }
        // The version is optional and tagged; then serial number, algorithm, issuer, validity, subject, key.
        let first = fields.first?.identifier.tagClass == .contextSpecific ? 1 : 0
        guard fields.count > first + 5 else { throw TokenError.malformed("a certificate has no public key.") }
        return Array(fields[first + 5].encodedBytes)
      }
    }
  }
}

/// The published keys of one provider, and for how long they may be used.
///
/// A value without I/O: who fetches asks ``needsFetch(for:at:)``, and tells what came of it.
package struct KeySetCache: Sendable {
  /// How long keys are kept if their publisher does not say, in milliseconds.
  private static let usual: Int64 = 3_600_000
  /// The longest and the shortest time that a publisher's word is taken for, in milliseconds.
  private static let bounds: ClosedRange<Int64> = 60_000...86_400_000
  /// How long after one attempt the next may be made for the sake of an unknown key, or after a failure.
  private static let pause: Int64 = 60_000
  /// How long keys stay usable after their time if they cannot be fetched again: the publisher may be down.
  private static let grace: Int64 = 86_400_000

  private var set: KeySet?
  /// Before the first fetch nothing is fresh.
  private var freshUntil = Int64.min
  private var lastAttempt: Int64?

  package init() {}

  /// The keys; nil if there are none, or they are too old to be trusted.
  package func keys(at now: Int64) -> KeySet? { set != nil && now < freshUntil + Self.grace ? set : nil }

  /// Whether the keys should be fetched before a token of this key is judged. Somebody who sends made-up names of keys
  /// causes one fetch a minute, no more.
  package func needsFetch(for key: KeyID?, at now: Int64) -> Bool {
    if let lastAttempt, now >= lastAttempt, now < lastAttempt + Self.pause { return false }
    guard let set, now < freshUntil else { return true }
    return set.key(key) == nil
  }

  /// Whether the keys' time is over, or there are none, and it is not too early to ask again.
  package func isStale(at now: Int64) -> Bool { now >= freshUntil && needsFetch(for: nil, at: now) }

  /// Whether the keys are fresh and this one is among them: nothing that a fetch could bring would help.
  package func isSettled(for key: KeyID?, at now: Int64) -> Bool { now < freshUntil && set?.key(key) != nil }

  /// Notes that a fetch begins, so that it is not begun twice.
  package mutating func begin(at now: Int64) { lastAttempt = now }

  /// Keeps what was fetched.
  ///
  /// - `cacheControl`: the header of the answer.
  /// - `now`: milliseconds since 1970.
  package mutating func store(_ keys: KeySet, cacheControl: String?, at now: Int64) {
    set = keys
    freshUntil = now + Self.lifetime(cacheControl)
    lastAttempt = now
  }

  /// How long an answer with this `Cache-Control` may be kept, in milliseconds.
  static func lifetime(_ cacheControl: String?) -> Int64 {
    for part in (cacheControl ?? "").lowercased().split(separator: ",") {
      let words = part.split(separator: "=").map { $0.filter { !$0.isWhitespace && $0 != "\"" } }
      if words.first == "no-store" || words.first == "no-cache" { return bounds.lowerBound }
      if words.count == 2, words[0] == "max-age", let seconds = Int64(words[1]), seconds >= 0 {
        return min(max(min(seconds, 1_000_000) * 1000, bounds.lowerBound), bounds.upperBound)
      }
    }
    return usual
  }
}

/// The public keys as texts, ready to be sent.
package struct PublishedKeys: Sendable {
  /// A JWKS (RFC 7517).
  package let jwks: [UInt8]
  /// `{kid: certificate}` in PEM, as admin SDKs read it.
  package let certificates: [UInt8]

  init(_ ring: KeyRing) throws(TokenError) {
    jwks = Self.text(ring.jwks)
    certificates = Self.text(try ring.certificates())
  }

  private static func text(_ json: JSON) -> [UInt8] {
    var writer = JSONWriter(capacity: 4096)
    writer.write(json)
    return writer.bytes
  }
}

/// The name of a signing key, as tokens carry it in their header (`kid`).
package struct KeyID: Sendable, Hashable, CustomStringConvertible {
  /// The name, as it is written.
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package var description: String { text }
}
