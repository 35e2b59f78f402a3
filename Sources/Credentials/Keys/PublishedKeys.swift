import TreeModel

/// The public keys as texts, ready to be sent.
public struct PublishedKeys: Sendable {
  /// A JWKS (RFC 7517).
  public let jwks: [UInt8]
  /// `{kid: certificate}` in PEM, as admin SDKs read it (spec: auth-protocol §3.2).
  public let certificates: [UInt8]

  init(_ ring: KeyRing) throws(TokenFault) {
    jwks = Self.text(ring.jwks)
    certificates = Self.text(try ring.certificates())
  }

  private static func text(_ json: JSON) -> [UInt8] {
    var writer = JSONWriter(capacity: 4096)
    writer.write(json)
    return writer.bytes
  }
}
