import Crypto
import CryptoExtras
import TextFormats
package import TreeModel

/// An RSA key that signs tokens, and its name.
package final class SigningKey: Sendable {
  /// Under what name the key is published.
  package let id: KeyID
  private let key: _RSA.Signing.PrivateKey
  /// A secret that belongs to the key: what access tokens are authenticated with.
  let derivedSecret: SymmetricKey

  private init(_ key: _RSA.Signing.PrivateKey) {
    self.key = key
    // The name is the key's fingerprint: the same key has one name everywhere, and no two keys share one.
    let digest = SHA256.hash(data: key.publicKey.derRepresentation)
    id = KeyID(Hex.encode(digest.prefix(20)))
    derivedSecret = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key.derRepresentation), info: Array("doubloon access token".utf8),
      outputByteCount: 32)
  }

  /// A new key of 2048 bits.
  ///
  /// Its randomness is the system's: the library of the arithmetic takes no generator. Takes 50 to 500 ms.
  package static func generate() throws -> SigningKey {
    SigningKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
  }

  /// A key of 2048 to 4096 bits as PKCS #8 or PKCS #1 in PEM.
  ///
  /// - Throws: ``TokenError/malformed(_:)``
  package convenience init(pem: String) throws(TokenError) {
    guard pem.utf8.count <= WebToken.sizeMax, let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem),
      key.keySizeInBits <= 4096
    else { throw .malformed("a private key is no RSA key of 2048 to 4096 bits in PEM.") }
    self.init(key)
  }

  /// The key as PKCS #8 in PEM. A secret.
  package var pem: String { key.pkcs8PEMRepresentation }

  /// What others check signatures with.
  package var verificationKey: VerificationKey { VerificationKey(rsa: key.publicKey) }

  /// The text of a token with these claims (`RS256`, with `kid`).
  package func token(_ claims: JSON) throws(TokenError) -> String {
    let header: JSON = ["alg": "RS256", "kid": .string(id.text), "typ": "JWT"]
    var bytes = WebToken.signedBytes(header: header, claims: claims)
    let signature = try sign(bytes)
    bytes.append(UInt8(ascii: "."))
    bytes.append(contentsOf: Base64.encode(signature, as: .url).utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The signature over some bytes: PKCS #1 v1.5 with SHA-256.
  func sign(_ bytes: [UInt8]) throws(TokenError) -> [UInt8] {
    guard let signature = try? key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5) else {
      throw .malformed("the key \(id) could not sign.")
    }
    return Array(signature.rawRepresentation)
  }

  /// The public key in DER (`SubjectPublicKeyInfo`).
  var publicDER: [UInt8] { Array(key.publicKey.derRepresentation) }

  /// The public key as a member of a JWKS (RFC 7517).
  var jwk: JSON {
    guard let numbers = try? key.publicKey.getKeyPrimitives() else { return .null }
    return [
      "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(id.text),
      "n": .string(Base64.encode(numbers.modulus, as: .url)), "e": .string(Base64.encode(numbers.publicExponent, as: .url)),
    ]
  }
}

/// A key of the ring as a file: two lines that tell what it is, then PKCS #8 in PEM, which other tools read as it is.
///
/// The caller reads and writes the files, with mode 0600 in a folder of mode 0700; this knows their names and content.
package enum KeyFile {
  /// What the names of key files end with.
  package static let suffix = ".key.pem"

  /// The name of a key's file.
  package static func name(of id: KeyID) -> String { id.text + suffix }

  /// The content of a key's file.
  package static func text(of entry: KeyRing.Entry) -> String {
    "Doubloon signing key \(entry.key.id). Secret: anyone who has it can be any user.\nsigns-from: \(entry.signsFrom)\n"
      + entry.key.pem + "\n"
  }

  /// Reads a file's content.
  ///
  /// - Throws: ``TokenError/malformed(_:)``
  package static func entry(in text: String) throws(TokenError) -> KeyRing.Entry {
    guard text.utf8.count <= WebToken.sizeMax else { throw .malformed("the key file is too long.") }
    let lines = text.split(whereSeparator: \.isNewline)
    let label = "signs-from: "
    guard let line = lines.first(where: { $0.hasPrefix(label) }), let start = Int64(line.dropFirst(label.count)), start >= 0
    else { throw .malformed("the key file has no line \"signs-from: \" with milliseconds since 1970.") }
    guard let begin = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN ") }) else {
      throw .malformed("the key file has no key in PEM.")
    }
    let key = try SigningKey(pem: lines[begin...].joined(separator: "\n"))
    return KeyRing.Entry(key: key, signsFrom: start)
  }
}
