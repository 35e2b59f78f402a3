import SwiftASN1
public import TreeModel

/// The public keys of somebody else, as they publish them.
public struct KeySet: Sendable {
  /// How many keys are read of one document.
  public static let countMax = 64
  /// The longest document that is read, in bytes.
  public static let sizeMax = 262_144

  private let byID: [KeyID: VerificationKey]

  /// Keys that are known already.
  public init(_ keys: [KeyID: VerificationKey]) {
    byID = keys
  }

  /// Reads a document: a JWKS, or `{kid: PEM certificate}`. Keys of other kinds in it are passed over.
  ///
  /// - Throws: ``TokenFault/malformed(_:)`` if it is neither, or holds no usable key.
  public init(document: [UInt8]) throws(TokenFault) {
    guard document.count <= Self.sizeMax, let json = try? JSONParser.parse(document, depthMax: 16) else {
      throw .malformed("the published keys are no JSON object of a reasonable size.")
    }
    try self.init(json: json)
  }

  /// Reads a document that was parsed already.
  ///
  /// - Throws: ``TokenFault/malformed(_:)``
  public init(json: JSON) throws(TokenFault) {
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
  public func key(_ id: KeyID?) -> VerificationKey? { id.flatMap { byID[$0] } }

  /// How many keys there are.
  public var count: Int { byID.count }

  /// The public key of a certificate (RFC 5280 §4.1). The certificate itself is not judged: the place it came from is trusted.
  static func key(certificate pem: String) -> VerificationKey? {
    guard pem.utf8.count <= WebToken.sizeMax, let document = try? PEMDocument(pemString: pem),
      document.discriminator == "CERTIFICATE", let bytes = try? publicKeyBytes(of: document.derBytes)
    else { return nil }
    return try? VerificationKey(der: bytes)
  }

  private static func publicKeyBytes(of certificate: [UInt8]) throws -> [UInt8] {
    try DER.sequence(try DER.parse(certificate), identifier: .sequence) { nodes in
      guard let body = nodes.next() else { throw TokenFault.malformed("a certificate is empty.") }
      while nodes.next() != nil {}
      return try DER.sequence(body, identifier: .sequence) { parts in
        var fields: [ASN1Node] = []
        while let node = parts.next() { fields.append(node) }
        // The version is optional and tagged; then serial number, algorithm, issuer, validity, subject, key.
        let first = fields.first?.identifier.tagClass == .contextSpecific ? 1 : 0
        guard fields.count > first + 5 else { throw TokenFault.malformed("a certificate has no public key.") }
        return Array(fields[first + 5].encodedBytes)
      }
    }
  }
}
