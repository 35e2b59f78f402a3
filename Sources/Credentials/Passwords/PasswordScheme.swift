/// A way to hash a password, with its parameters. All but the first are for accounts that come from elsewhere.
///
/// Every parameter is bounded (``isBounded``): whoever imports accounts must not choose how much memory or time a sign-in
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
      Self.pbkdf2(password, salt: salt, function, rounds: max(1, rounds), size: size)
    case .hmac(let function, let key, let saltFirst):
      Self.hmac(saltFirst ? salt + password : password + salt, key: key, function)
    case .digest(let function, let rounds, let saltFirst):
      Self.digest(saltFirst ? salt + password : password + salt, function, rounds: max(1, rounds))
    case .argon2(let parameters): Argon2.hash(password, salt: salt, parameters, size: size)
    }
  }
}
