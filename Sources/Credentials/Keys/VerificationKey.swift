import Crypto
import CryptoExtras
import TextFormats
import TreeModel

/// A public key that signatures are checked with. It is for one algorithm, whatever a token's header says.
package struct VerificationKey: Sendable {
  private enum Kind: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
  }

  private let kind: Kind

  private init(_ kind: Kind) {
    self.kind = kind
  }

  init(rsa: _RSA.Signing.PublicKey) {
    self.init(.rsa(rsa))
  }

  /// A key as PEM or DER has it (`SubjectPublicKeyInfo`): RSA of 2048 to 4096 bits, or P-256.
  ///
  /// - Throws: ``TokenError/malformed(_:)``
  package init(pem: String) throws(TokenError) {
    guard pem.utf8.count <= WebToken.sizeMax else { throw .malformed("a key is too long.") }
    if let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) {
      try self.init(checked: key)
    } else if let key = try? P256.Signing.PublicKey(pemRepresentation: pem) {
      self.init(.p256(key))
    } else {
      throw .malformed("a key is neither RSA nor P-256 in PEM.")
    }
  }

  /// A key as DER has it (`SubjectPublicKeyInfo`).
  init(der: [UInt8]) throws(TokenError) {
    if let key = try? _RSA.Signing.PublicKey(derRepresentation: der) {
      try self.init(checked: key)
    } else if let key = try? P256.Signing.PublicKey(derRepresentation: der) {
      self.init(.p256(key))
    } else {
      throw .malformed("a key is neither RSA nor P-256.")
    }
  }

  /// A key of a JWKS (RFC 7517, RFC 7518 §6); nil if it is of a kind that is not known here, or not for signatures.
  init?(jwk: JSON) {
    if let use = jwk["use"], use.string != "sig" { return nil }
    func number(_ name: String) -> [UInt8]? {
      jwk[name]?.string.flatMap { $0.utf8.count <= 2048 ? Base64.decode($0.utf8) : nil }
    }
    switch jwk["kty"]?.string {
    case "RSA":
      if let algorithm = jwk["alg"], algorithm.string != TokenAlgorithm.rs256.rawValue { return nil }
      guard let n = number("n"), let e = number("e"), (1...4).contains(e.count), !n.isEmpty,
        let key = try? _RSA.Signing.PublicKey(n: n, e: e)
      else { return nil }
      try? self.init(checked: key)
    case "EC":
      guard jwk["crv"]?.string == "P-256", let x = number("x"), let y = number("y"), x.count == 32, y.count == 32,
        let key = try? P256.Signing.PublicKey(x963Representation: [0x04] + x + y)
      else { return nil }
      self.init(.p256(key))
    default: return nil
    }
  }

  private init(checked key: _RSA.Signing.PublicKey) throws(TokenError) {
    // A huge key is a way to make each check slow.
    guard key.keySizeInBits <= 4096 else { throw .malformed("an RSA key has more than 4096 bits.") }
    self.init(.rsa(key))
  }

  /// The one algorithm that the key is for.
  package var algorithm: TokenAlgorithm {
    switch kind {
    case .rsa: .rs256
    case .p256: .es256
    }
  }

  /// Whether the signature is this key's over the bytes.
  func isValid(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
    let digest = SHA256.hash(data: bytes)
    switch kind {
    case .rsa(let key):
      return key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5)
    case .p256(let key):
      guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: digest)
    }
  }

  /// The key in PEM (`SubjectPublicKeyInfo`), as ``init(pem:)`` reads it.
  package var pem: String {
    switch kind {
    case .rsa(let key): key.pemRepresentation
    case .p256(let key): key.pemRepresentation
    }
  }
}

/// Comparing without telling by the duration how much was right.
package enum SecretComparison {
  /// Whether the bytes are the same. Takes as long whatever differs; only the lengths show.
  package static func areEqual(_ left: [UInt8], right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
