public import TreeModel

/// A JSON web token taken apart (RFC 7515, compact form): read, not yet believed.
///
/// Reading is bounded in size and depth, and never traps. Whoever wants to believe the claims calls
/// ``check(signature:)`` first, with the key that *they* chose: what the header says about keys is only a name to look up.
public struct WebToken: Sendable {
  /// The longest text that is looked at, in bytes.
  public static let sizeMax = 16_384
  /// How deep the claims may be nested.
  static let depthMax = 16

  /// How the token says it is signed.
  public let algorithm: TokenAlgorithm
  /// Which key it says it is signed with.
  public let keyID: KeyID?
  /// What it says it is (`typ`): `JWT`, if it says so.
  let mediaType: String?
  /// What it says: an object.
  public let claims: JSON
  /// The bytes that the signature is over.
  let signedBytes: [UInt8]
  let signature: [UInt8]

  /// Takes a token apart.
  ///
  /// - Throws: ``TokenFault/malformed(_:)``, ``TokenFault/unsupportedAlgorithm(_:)``.
  public init(parsing text: String) throws(TokenFault) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.sizeMax else { throw .malformed("it is longer than \(Self.sizeMax) bytes.") }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("it has \(parts.count) parts instead of three.") }
    let header = try Self.object(parts[0], "header")
    claims = try Self.object(parts[1], "payload")
    guard let name = header["alg"]?.string else { throw .malformed("its header has no alg.") }
    guard let algorithm = TokenAlgorithm(rawValue: name) else {
      throw .unsupportedAlgorithm(String(name.unicodeScalars.prefix(20)))
    }
    // Nothing critical is understood here (RFC 7515 §4.1.11).
    guard header["crit"] == nil else { throw .malformed("its header has critical extensions, and none is known here.") }
    self.algorithm = algorithm
    keyID = header["kid"]?.string.map(KeyID.init)
    mediaType = header["typ"]?.string
    guard let signature = Base64.decode(parts[2]) else { throw .malformed("its signature is not base64url.") }
    guard algorithm == .none || !signature.isEmpty else { throw .badSignature }
    self.signature = signature
    signedBytes = Array(bytes[..<(parts[1].endIndex)])
  }

  /// Whether the signature is the key's, over exactly this text.
  ///
  /// - Throws: ``TokenFault/badSignature``; ``TokenFault/unsupportedAlgorithm(_:)`` if the key is for another algorithm, or
  ///   the token is unsigned.
  public func check(signature key: VerificationKey) throws(TokenFault) {
    guard algorithm == key.algorithm else { throw .unsupportedAlgorithm(algorithm.rawValue) }
    guard key.isValid(signature, for: signedBytes) else { throw .badSignature }
  }

  private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(TokenFault) -> JSON {
    guard let bytes = Base64.decode(part) else { throw .malformed("its \(name) is not base64url.") }
    guard let json = try? JSONParser.parse(bytes, depthMax: depthMax), let members = json.object else {
      throw .malformed("its \(name) is no JSON object.")
    }
    // Readers disagree about which of two members counts; a token that says a thing twice says nothing.
    guard Set(members.map(\.key)).count == members.count else { throw .malformed("its \(name) repeats a member.") }
    return json
  }
}

extension WebToken {
  /// Whether a test library made the token up, for a user who need not exist (`mockUserToken` of Firebase's JavaScript SDK).
  ///
  /// Such a token is unsigned and of the year 1970, unless the test gives it times of its own; and its header has `type` where
  /// every token that this server issues has `typ`.
  var isMock: Bool { algorithm == .none && (claims["iat"]?.int == 0 || mediaType == nil) }

  /// The text of an unsigned token, as emulators issue it: the last part is empty, its dot is there (spec: auth-protocol §3.2).
  public static func unsigned(_ claims: JSON) -> String {
    let bytes = signedBytes(header: ["alg": "none", "typ": "JWT"], claims: claims)
    return String(decoding: bytes, as: UTF8.self) + "."
  }

  /// The two parts that a signature is over.
  static func signedBytes(header: JSON, claims: JSON) -> [UInt8] {
    var bytes: [UInt8] = []
    for json in [header, claims] {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: ".")) }
      var writer = JSONWriter()
      writer.write(json)
      bytes.append(contentsOf: Base64.encode(writer.bytes, as: .url).utf8)
    }
    return bytes
  }
}
