import Crypto
import CryptoExtras

extension PasswordScheme {
  static func scrypt(_ password: [UInt8], salt: [UInt8], logN: Int, r: Int, p: Int, size: Int) -> [UInt8]? {
    let key = try? KDF.Scrypt.deriveKey(
      from: password, salt: salt, outputByteCount: size, rounds: 1 << logN, blockSize: r, parallelism: p)
    return key.map(bytes)
  }

  static func pbkdf2(_ password: [UInt8], salt: [UInt8], _ function: Function, rounds: Int, size: Int) -> [UInt8]? {
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

  static func hmac(_ text: [UInt8], key: [UInt8], _ function: Function) -> [UInt8] {
    let key = SymmetricKey(data: key)
    return switch function {
    case .md5: Array(HMAC<Insecure.MD5>.authenticationCode(for: text, using: key))
    case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: text, using: key))
    case .sha256: Array(HMAC<SHA256>.authenticationCode(for: text, using: key))
    case .sha512: Array(HMAC<SHA512>.authenticationCode(for: text, using: key))
    }
  }

  /// The function, then the function of its result, as often as there are rounds.
  static func digest(_ text: [UInt8], _ function: Function, rounds: Int) -> [UInt8] {
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
