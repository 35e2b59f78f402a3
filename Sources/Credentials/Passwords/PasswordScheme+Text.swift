import TreeModel

/// The scheme as a stored text names it.
extension PasswordScheme {
  var name: String {
    switch self {
    case .scrypt: "scrypt"
    case .firebaseScrypt: "firebase-scrypt"
    case .bcrypt: "bcrypt"
    case .pbkdf2(let function, _): "pbkdf2-\(function.rawValue)"
    case .hmac(let function, _, _): "hmac-\(function.rawValue)"
    case .digest(let function, _, _): "digest-\(function.rawValue)"
    case .argon2(let parameters): parameters.variant.rawValue
    }
  }

  var parameters: [(String, String)] {
    switch self {
    case .scrypt(let logN, let r, let p): [("ln", "\(logN)"), ("r", "\(r)"), ("p", "\(p)")]
    case .firebaseScrypt(let key, let separator, let rounds, let memoryCost):
      [
        ("key", Base64.encode(key, as: .url)), ("sep", Base64.encode(separator, as: .url)), ("r", "\(rounds)"),
        ("m", "\(memoryCost)"),
      ]
    case .bcrypt: []
    case .pbkdf2(_, let rounds): [("r", "\(rounds)")]
    case .hmac(_, let key, let saltFirst): [("key", Base64.encode(key, as: .url)), ("first", saltFirst ? "salt" : "password")]
    case .digest(_, let rounds, let saltFirst): [("r", "\(rounds)"), ("first", saltFirst ? "salt" : "password")]
    case .argon2(let a):
      [
        ("t", "\(a.passes)"), ("m", "\(a.memory)"), ("p", "\(a.lanes)"), ("v", "\(a.version)"),
        ("ad", Base64.encode(a.associated, as: .url)),
      ]
    }
  }

  init?(name: String, _ parameters: [String: String]) {
    func number(_ name: String) -> Int? { parameters[name].flatMap(Int.init) }
    func bytes(_ name: String) -> [UInt8]? { parameters[name].flatMap { Base64.decode($0.utf8) } }
    let saltFirst: Bool? = parameters["first"].flatMap { $0 == "salt" ? true : $0 == "password" ? false : nil }
    let words = name.split(separator: "-", maxSplits: 1).map(String.init)
    let function = words.count == 2 ? Function(rawValue: words[1]) : nil
    switch (words.first ?? "", function) {
    case ("scrypt", nil):
      guard let logN = number("ln"), let r = number("r"), let p = number("p") else { return nil }
      self = .scrypt(logN: logN, r: r, p: p)
    case ("firebase", nil) where name == "firebase-scrypt":
      guard let key = bytes("key"), let separator = bytes("sep"), let rounds = number("r"), let memory = number("m") else {
        return nil
      }
      self = .firebaseScrypt(signerKey: key, separator: separator, rounds: rounds, memoryCost: memory)
    case ("bcrypt", nil): self = .bcrypt
    case ("pbkdf2", let function?):
      guard let rounds = number("r") else { return nil }
      self = .pbkdf2(function, rounds: rounds)
    case ("hmac", let function?):
      guard let key = bytes("key"), let saltFirst else { return nil }
      self = .hmac(function, key: key, saltFirst: saltFirst)
    case ("digest", let function?):
      guard let rounds = number("r"), let saltFirst else { return nil }
      self = .digest(function, rounds: rounds, saltFirst: saltFirst)
    default:
      guard let variant = Argon2.Variant(rawValue: name), let passes = number("t"), let memory = number("m"),
        let lanes = number("p"), let version = number("v"), let associated = bytes("ad")
      else { return nil }
      self = .argon2(
        Argon2.Parameters(
          variant: variant, passes: passes, memory: memory, lanes: lanes, version: version, associated: associated))
    }
  }
}
