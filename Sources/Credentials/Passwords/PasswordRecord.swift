import TextFormats
package import TreeModel

/// The hash of a password with all that is needed to check one against it: what an account stores, as one text.
///
/// `$scheme$name=value,…$salt$hash`, numbers in decimal, bytes as base64url. Secret: it never leaves the server but in an
/// admin's export.
package struct PasswordRecord: Sendable, Hashable {
  /// The longest text, in bytes.
  package static let textMax = 4096
  /// The longest password that is looked at, in bytes.
  package static let passwordMax = 4096

  let scheme: PasswordScheme
  /// The salt, as it was imported or drawn; empty for bcrypt.
  package let salt: [UInt8]
  /// The hash, as it was imported or made; for bcrypt the text that begins with `$2`.
  package let hash: [UInt8]

  init?(scheme: PasswordScheme, salt: [UInt8], hash: [UInt8]) {
    guard scheme.isBounded(hashSize: hash.count), salt.count <= 256 else { return nil }
    if case .bcrypt = scheme, Bcrypt.Parsed(hash) == nil { return nil }
    self.scheme = scheme
    self.salt = salt
    self.hash = hash
  }

  /// Reads a stored text; nil if it is none.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.textMax else { return nil }
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, let salt = Base64.decode(parts[3].utf8), let hash = Base64.decode(parts[4].utf8)
    else { return nil }
    var parameters: [String: String] = [:]
    for pair in parts[2].split(separator: ",") {
      guard let equals = pair.firstIndex(of: "=") else { return nil }
      parameters[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
    }
    guard let scheme = PasswordScheme(name: String(parts[1]), parameters) else { return nil }
    self.init(scheme: scheme, salt: salt, hash: hash)
  }

  /// The text to store.
  package var text: String {
    let parameters = scheme.parameters.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
    return "$\(scheme.name)$\(parameters)$\(Base64.encode(salt, as: .url))$\(Base64.encode(hash, as: .url))"
  }

  /// Whether a password is the one. Takes as long as the scheme takes: milliseconds to seconds, and up to 128 MB of memory;
  /// never on an event loop, and few at a time.
  package func matches(_ password: String) -> Bool {
    let bytes = Array(password.utf8)
    guard bytes.count <= Self.passwordMax else { return false }
    if case .bcrypt = scheme {
      guard let parsed = Bcrypt.Parsed(hash) else { return false }
      return SecretComparison.areEqual(Bcrypt.hash(bytes, salt: parsed.salt, cost: parsed.cost), right: parsed.hash)
    }
    guard let made = scheme.hash(bytes, salt: salt, size: hash.count) else { return false }
    return SecretComparison.areEqual(made, right: hash)
  }
}

extension PasswordRecord {
  /// How the password is hashed, in the words of a `batchCreate` call: what ``PasswordImport`` reads.
  package var importParameters: JSON {
    JSON.object(parameters.map { JSON.Member(key: $0.0, value: $0.1) })
  }

  private var parameters: [(String, JSON)] {
    switch scheme {
    case .scrypt(let logN, let r, let p):
      [
        ("hashAlgorithm", "STANDARD_SCRYPT"), ("cpuMemCost", .int(1 << Int64(logN))), ("blockSize", .int(Int64(r))),
        ("parallelization", .int(Int64(p))), ("dkLen", .int(Int64(hash.count))),
      ]
    case .firebaseScrypt(let key, let separator, let rounds, let memoryCost):
      [
        ("hashAlgorithm", "SCRYPT"), ("signerKey", .string(Base64.encode(key, as: .standard))),
        ("saltSeparator", .string(Base64.encode(separator, as: .standard))), ("rounds", .int(Int64(rounds))),
        ("memoryCost", .int(Int64(memoryCost))),
      ]
    case .bcrypt: [("hashAlgorithm", "BCRYPT")]
    case .pbkdf2(let function, let rounds):
      [("hashAlgorithm", function == .sha1 ? "PBKDF_SHA1" : "PBKDF2_SHA256"), ("rounds", .int(Int64(rounds)))]
    case .hmac(let function, let key, let saltFirst):
      [
        ("hashAlgorithm", .string("HMAC_\(function.rawValue.uppercased())")),
        ("signerKey", .string(Base64.encode(key, as: .standard))),
        ("passwordHashOrder", Self.order(saltFirst)),
      ]
    case .digest(let function, let rounds, let saltFirst):
      [
        ("hashAlgorithm", .string(function.rawValue.uppercased())), ("rounds", .int(Int64(rounds))),
        ("passwordHashOrder", Self.order(saltFirst)),
      ]
    case .argon2(let parameters): [("hashAlgorithm", "ARGON2"), ("argon2Parameters", argon2(parameters))]
    }
  }

  private static func order(_ saltFirst: Bool) -> JSON { saltFirst ? "SALT_AND_PASSWORD" : "PASSWORD_AND_SALT" }

  private func argon2(_ parameters: Argon2.Parameters) -> JSON {
    let type: JSON =
      switch parameters.variant {
      case .d: "ARGON2_D"
      case .i: "ARGON2_I"
      case .id: "ARGON2_ID"
      }
    return [
      "hashType": type, "version": parameters.version == 0x10 ? "VERSION_10" : "VERSION_13",
      "iterations": .int(Int64(parameters.passes)), "memoryCostKib": .int(Int64(parameters.memory)),
      "parallelism": .int(Int64(parameters.lanes)), "hashLengthBytes": .int(Int64(hash.count)),
      "associatedData": .string(Base64.encode(parameters.associated, as: .standard)),
    ]
  }
}
