import TextFormats
package import TreeModel

/// How the passwords of accounts from elsewhere are hashed: the parameters of a `batchCreate` call.
package struct PasswordImport: Sendable {
  private let scheme: PasswordScheme
  /// The size that `dkLen` or `hashLengthBytes` promises, in bytes.
  private let promisedSize: Int?

  /// Reads `hashAlgorithm` and its parameters out of the request's body. Bytes are base64 in either alphabet.
  ///
  /// - Throws: ``PasswordImportError``
  package init(_ body: JSON) throws(PasswordImportError) {
    guard let name = body["hashAlgorithm"]?.string else { throw .missingAlgorithm }
    let fields = Fields(body)
    var promisedSize: Int?
    switch name {
    case "SCRYPT":
      scheme = .firebaseScrypt(
        signerKey: try fields.bytes("signerKey"), separator: try fields.bytes("saltSeparator", or: []),
        rounds: try fields.number("rounds"), memoryCost: try fields.number("memoryCost"))
    case "STANDARD_SCRYPT":
      let n = try fields.number("cpuMemCost")
      guard n > 1, n.nonzeroBitCount == 1 else { throw .badParameter("cpuMemCost must be a power of two.") }
      promisedSize = try fields.number("dkLen")
      scheme = .scrypt(
        logN: n.trailingZeroBitCount, r: try fields.number("blockSize"), p: try fields.number("parallelization"))
    case "BCRYPT": scheme = .bcrypt
    case "PBKDF_SHA1": scheme = .pbkdf2(.sha1, rounds: try fields.number("rounds"))
    case "PBKDF2_SHA256": scheme = .pbkdf2(.sha256, rounds: try fields.number("rounds"))
    case "HMAC_MD5", "HMAC_SHA1", "HMAC_SHA256", "HMAC_SHA512":
      scheme = .hmac(
        try Self.function(name.dropFirst(5)), key: try fields.bytes("signerKey"), saltFirst: try fields.isSaltFirst())
    case "MD5", "SHA1", "SHA256", "SHA512":
      scheme = .digest(
        try Self.function(name[...]), rounds: try fields.number("rounds", or: 1), saltFirst: try fields.isSaltFirst())
    case "ARGON2":
      let parameters = try Self.argon2(Fields(body["argon2Parameters"] ?? .null))
      promisedSize = parameters.1
      scheme = .argon2(parameters.0)
    default: throw .unknownAlgorithm(String(name.unicodeScalars.prefix(40)))
    }
    self.promisedSize = promisedSize
    // The bounds do not depend on the hash but for its size, which is each account's.
    let likely = promisedSize ?? scheme.likelyHashSize
    guard scheme.isBounded(hashSize: likely) else { throw .badParameter("the parameters of \(name) are out of range.") }
  }

  /// The record of one account.
  ///
  /// - Parameters:
  ///   - hash: `passwordHash` of the account, base64.
  ///   - salt: `salt` of the account, base64; nil if it has none.
  /// - Throws: ``PasswordImportError/badHash``
  package func record(hash: String, salt: String?) throws(PasswordImportError) -> PasswordRecord {
    guard let hash = Base64.decode(hash.utf8), let salt = Base64.decode((salt ?? "").utf8),
      promisedSize == nil || promisedSize == hash.count, let record = PasswordRecord(scheme: scheme, salt: salt, hash: hash)
    else { throw .badHash }
    return record
  }

  private static func function(_ name: Substring) throws(PasswordImportError) -> PasswordScheme.Function {
    guard let function = PasswordScheme.Function(rawValue: name.lowercased()) else { throw .unknownAlgorithm(String(name)) }
    return function
  }

  private static func argon2(_ fields: Fields) throws(PasswordImportError) -> (Argon2.Parameters, Int) {
    let variants: [String: Argon2.Variant] = ["ARGON2_D": .d, "ARGON2_I": .i, "ARGON2_ID": .id]
    guard let variant = fields.text("hashType").flatMap({ variants[$0] }) else {
      throw .badParameter("argon2Parameters.hashType must be ARGON2_D, ARGON2_I or ARGON2_ID.")
    }
    let versions = ["VERSION_10": 0x10, "VERSION_13": 0x13, "VERSION_UNSPECIFIED": 0x13]
    guard let version = versions[fields.text("version") ?? "VERSION_13"] else {
      throw .badParameter("argon2Parameters.version must be VERSION_10 or VERSION_13.")
    }
    let parameters = Argon2.Parameters(
      variant: variant, passes: try fields.number("iterations"), memory: try fields.number("memoryCostKib"),
      lanes: try fields.number("parallelism"), version: version, associated: try fields.bytes("associatedData", or: []))
    return (parameters, try fields.number("hashLengthBytes"))
  }
}

extension PasswordImport {
  /// The parameters, read as the protocol writes them: numbers as numbers or texts.
  private struct Fields {
    let body: JSON

    init(_ body: JSON) {
      self.body = body
    }

    func text(_ name: String) -> String? { body[name]?.string }

    func number(_ name: String, or fallback: Int? = nil) throws(PasswordImportError) -> Int {
      guard let value = body[name], !value.isNull else {
        if let fallback { return fallback }
        throw .badParameter("\(name) is missing.")
      }
      guard let number = value.int ?? value.string.flatMap(Int64.init), (0...(1 << 31)).contains(number) else {
        throw .badParameter("\(name) is no number in range.")
      }
      return Int(number)
    }

    func bytes(_ name: String, or fallback: [UInt8]? = nil) throws(PasswordImportError) -> [UInt8] {
      guard let value = body[name], !value.isNull else {
        if let fallback { return fallback }
        throw .badParameter("\(name) is missing.")
      }
      guard let text = value.string, text.utf8.count <= 2048, let bytes = Base64.decode(text.utf8) else {
        throw .badParameter("\(name) is no base64.")
      }
      return bytes
    }

    func isSaltFirst() throws(PasswordImportError) -> Bool {
      switch body["passwordHashOrder"]?.string {
      case nil, "UNSPECIFIED_ORDER", "SALT_AND_PASSWORD": true
      case "PASSWORD_AND_SALT": false
      default: throw .badParameter("passwordHashOrder must be SALT_AND_PASSWORD or PASSWORD_AND_SALT.")
      }
    }
  }
}

extension PasswordScheme {
  /// How long the hashes of this scheme are, or usually are.
  fileprivate var likelyHashSize: Int {
    switch self {
    case .firebaseScrypt(let key, _, _, _): key.count
    case .bcrypt: 60
    case .hmac(let function, _, _), .digest(let function, _, _): function.size
    default: 32
    }
  }
}

/// Why password hashes from elsewhere could not be taken over.
package enum PasswordImportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Accounts with hashes, and no word about how they were made.
  case missingAlgorithm
  /// An algorithm that nobody knows.
  case unknownAlgorithm(String)
  /// A parameter that is missing, or out of range. The text says which.
  case badParameter(String)
  /// A hash or salt that is no base64, or not of the algorithm's size.
  case badHash

  package var description: String {
    switch self {
    case .missingAlgorithm: "MISSING_HASH_ALGORITHM"
    case .unknownAlgorithm(let name): "INVALID_HASH_ALGORITHM : \(name)"
    case .badParameter(let what): "INVALID_HASH_PARAMETERS : \(what)"
    case .badHash: "INVALID_PASSWORD_HASH : The hash or its salt is no base64, or not of the algorithm's size."
    }
  }
}
