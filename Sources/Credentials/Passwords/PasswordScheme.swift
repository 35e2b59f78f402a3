import Crypto
import CryptoExtras
import TextFormats
import TreeModel

/// A way to hash a password, with its parameters. All but the first are for accounts that come from elsewhere.
///
/// Every parameter is bounded (`isBounded`): an importer of accounts must not choose how much memory or time a sign-in
/// takes.
enum PasswordScheme: Sendable, Hashable {
  /// Which hash function.
  enum Function: String, Sendable, Hashable {
    case md5, sha1, sha256, sha512

    /// How many bytes it gives.
    var size: Int {
      switch self {
      case .md5: 16
      case .sha1: 20
      case .sha256: 32
      case .sha512: 64
      }
    }
  }

  /// scrypt (RFC 7914): 2^logN, block size, parallelism.
  case scrypt(logN: Int, r: Int, p: Int)
  /// scrypt as Firebase has changed it: the key that comes out encrypts the project's signer key.
  case firebaseScrypt(signerKey: [UInt8], separator: [UInt8], rounds: Int, memoryCost: Int)
  /// bcrypt; salt and cost are part of the hash's text.
  case bcrypt
  /// PBKDF2 (RFC 8018), with SHA-1 or SHA-256.
  case pbkdf2(Function, rounds: Int)
  /// HMAC with a key of the project.
  case hmac(Function, key: [UInt8], saltFirst: Bool)
  /// A plain hash function, applied again and again.
  case digest(Function, rounds: Int, saltFirst: Bool)
  /// Argon2 (RFC 9106).
  case argon2(Argon2.Parameters)

  /// How much memory one check may take, in bytes: what the server's own scheme took in earlier versions.
  private static let memoryMax = 128 << 20

  /// Whether the parameters are within their bounds, for a hash of so many bytes.
  func isBounded(hashSize: Int) -> Bool {
    switch self {
    case .scrypt(let logN, let r, let p):
      // The library refuses larger blocks for a single lane.
      guard (1...20).contains(logN), (1...32).contains(r), (1...16).contains(p), r <= 16 || p > 1 else { return false }
      return (r << logN) * 128 * p <= Self.memoryMax && (16...128).contains(hashSize)
    case .firebaseScrypt(let key, let separator, let rounds, let memoryCost):
      return (1...8).contains(rounds) && (1...14).contains(memoryCost) && (1...256).contains(key.count)
        && separator.count <= 64 && hashSize == key.count
    case .bcrypt: return hashSize == 60
    case .pbkdf2(_, let rounds): return (0...1_000_000).contains(rounds) && (8...128).contains(hashSize)
    case .hmac(let function, let key, _): return (1...1024).contains(key.count) && hashSize == function.size
    case .digest(let function, let rounds, _): return (0...8192).contains(rounds) && hashSize == function.size
    case .argon2(let parameters): return parameters.isBounded && (4...128).contains(hashSize)
    }
  }

  /// The hash of a password: as many bytes as asked for, where the scheme leaves that open. Nil if it cannot be made.
  ///
  /// - Precondition: the scheme is bounded, and is not ``bcrypt``.
  func hash(_ password: [UInt8], salt: [UInt8], size: Int) -> [UInt8]? {
    switch self {
    case .scrypt(let logN, let r, let p): Self.scrypt(password, salt: salt, logN: logN, r: r, p: p, size: size)
    case .firebaseScrypt(let key, let separator, let rounds, let memoryCost):
      Self.scrypt(password, salt: salt + separator, logN: memoryCost, r: rounds, p: 1, size: 64)
        .flatMap { Self.encrypted(key, with: Array($0.prefix(32))) }
    case .bcrypt: nil
    case .pbkdf2(let function, let rounds):
      Self.pbkdf2(password, salt: salt, function: function, rounds: max(1, rounds), size: size)
    case .hmac(let function, let key, let saltFirst):
      Self.hmac(saltFirst ? salt + password : password + salt, key: key, function: function)
    case .digest(let function, let rounds, let saltFirst):
      Self.digest(saltFirst ? salt + password : password + salt, function: function, rounds: max(1, rounds))
    case .argon2(let parameters): Argon2.hash(password, salt: salt, parameters, size: size)
    }
  }
}

extension PasswordScheme {
  static func scrypt(_ password: [UInt8], salt: [UInt8], logN: Int, r: Int, p: Int, size: Int) -> [UInt8]? {
    let key = try? KDF.Scrypt.deriveKey(
      from: password, salt: salt, outputByteCount: size, rounds: 1 << logN, blockSize: r, parallelism: p)
    return key.map(bytes)
  }

  static func pbkdf2(_ password: [UInt8], salt: [UInt8], function: Function, rounds: Int, size: Int) -> [UInt8]? {
    let hash: KDF.Insecure.PBKDF2.HashFunction =
      switch function {
      case .md5: .insecureMD5
      case .sha1: .insecureSHA1
      case .sha256: .sha256
      case .sha512: .sha512
      }
    let key = try? KDF.Insecure.PBKDF2.deriveKey(
      from: password, salt: salt, using: hash, outputByteCount: size, unsafeUncheckedRounds: rounds)
    return key.map(bytes)
  }

  static func hmac(_ text: [UInt8], key: [UInt8], function: Function) -> [UInt8] {
    let key = SymmetricKey(data: key)
    return switch function {
    case .md5: Array(HMAC<Insecure.MD5>.authenticationCode(for: text, using: key))
    case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: text, using: key))
    case .sha256: Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
    case .sha512: Array(HMAC<SHA512>.authenticationCode(for: text, using: key))
    }
  }

  /// The function, then the function of its result, as often as there are rounds.
  static func digest(_ text: [UInt8], function: Function, rounds: Int) -> [UInt8] {
    var result = text
    for _ in 0..<rounds {
      result =
        switch function {
        case .md5: Array(Insecure.MD5.hash(data: result))
        case .sha1: Array(Insecure.SHA1.hash(data: result))
        case .sha256: Array(SHA256.hash(data: result))
        case .sha512: Array(SHA512.hash(data: result))
        }
    }
    return result
  }

  /// AES-256 in counter mode, the counter from zero.
  static func encrypted(_ text: [UInt8], with key: [UInt8]) -> [UInt8]? {
    guard let nonce = try? AES._CTR.Nonce(nonceBytes: [UInt8](repeating: 0, count: 16)),
      let result = try? AES._CTR.encrypt(text, using: SymmetricKey(data: key), nonce: nonce)
    else { return nil }
    return Array(result)
  }

  private static func bytes(of key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }
}

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
