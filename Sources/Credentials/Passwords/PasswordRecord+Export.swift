public import TreeModel

extension PasswordRecord {
  /// How the password is hashed, in the words of a `batchCreate` call: what ``PasswordImport`` reads
  /// (spec: auth-protocol §5).
  public var importParameters: JSON {
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
