import Crypto
import CryptoExtras
import TextFormats

/// To whom backups are sealed: the public half of a key pair. It is no secret, and may stand in a configuration.
///
/// A passphrase is a key pair too: its private half is stretched from the passphrase (scrypt, RFC 7914), and what the stretching
/// needs to be done again travels with the public half. So those who write a backup never need a secret.
package struct BackupRecipient: Sendable, Hashable {
  /// What every text of a recipient begins with.
  package static let prefix = "doubloon-backup-to-"
  static let keySize = 32

  /// A public key of X25519 (RFC 7748).
  let key: [UInt8]
  /// How its private half comes of a passphrase; nil where it is in a file.
  package let stretch: PassphraseStretch?

  init(key: [UInt8], stretch: PassphraseStretch?) {
    self.key = key
    self.stretch = stretch
  }

  /// Reads ``text``; nil if it is none, or a letter of it is wrong.
  package init?(_ text: String) {
    guard let payload = KeyText.payload(of: text, behind: Self.prefix), payload.count >= Self.keySize else { return nil }
    let rest = Array(payload[Self.keySize...])
    guard rest.isEmpty || PassphraseStretch(bytes: rest) != nil else { return nil }
    self.init(key: Array(payload[..<Self.keySize]), stretch: PassphraseStretch(bytes: rest))
  }

  /// One word that can be copied; a checksum in it shows a letter that was lost.
  package var text: String { KeyText.text(key + (stretch?.bytes ?? []), behind: Self.prefix) }

  /// Enough of it to tell one recipient from another by eye.
  package var shortText: String { String(text.prefix(Self.prefix.count + 8)) + "…" }
}

/// The private half of a key pair: anyone who has it can read every backup that was sealed to its recipient.
package struct BackupIdentity: Sendable, CustomStringConvertible, CustomReflectable {
  /// What every text of a private half begins with.
  package static let prefix = "doubloon-backup-secret-"

  let key: Curve25519.KeyAgreement.PrivateKey
  /// The public half.
  package let recipient: BackupRecipient

  private init(_ key: Curve25519.KeyAgreement.PrivateKey, stretch: PassphraseStretch?) {
    self.key = key
    recipient = BackupRecipient(key: Array(key.publicKey.rawRepresentation), stretch: stretch)
  }

  /// A fresh key pair, of the system's randomness.
  package static func generate() -> BackupIdentity {
    BackupIdentity(Curve25519.KeyAgreement.PrivateKey(), stretch: nil)
  }

  /// Reads the text of a key file: blank lines and lines that begin with # say nothing. Nil if it holds no private half.
  package init?(_ text: String) {
    let lines = text.split(whereSeparator: \.isNewline).filter { $0.first != "#" }
    guard lines.count == 1, let payload = KeyText.payload(of: String(lines[0]), behind: Self.prefix),
      let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: payload)
    else { return nil }
    self.init(key, stretch: nil)
  }

  /// The key pair of a passphrase. Takes as long as the stretching costs.
  ///
  /// - Throws: ``BackupError`` if the passphrase is empty or too long, or there is no memory for it.
  package init(passphrase: [UInt8], stretch: PassphraseStretch) throws(BackupError) {
    guard (1...PassphraseStretch.passphraseMax).contains(passphrase.count) else {
      throw BackupError(.unsuitable, "A passphrase is 1 to \(PassphraseStretch.passphraseMax) bytes long.")
    }
    let secret = try? KDF.Scrypt.deriveKey(
      from: passphrase, salt: stretch.salt, outputByteCount: BackupRecipient.keySize, rounds: 1 << stretch.logN,
      blockSize: stretch.r, parallelism: stretch.p)
    let bytes = secret?.withUnsafeBytes { Array($0) }
    guard let bytes, let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes) else {
      throw BackupError(
        .failed, "The passphrase cannot be stretched: that takes \(stretch.memoryBytes >> 20) MB of memory, which are not free."
      )
    }
    self.init(key, stretch: stretch)
  }

  /// The content of a key file. A secret.
  package var fileText: String {
    """
    # The private key of backups of Doubloon. Everybody who has it can read them; without it they are lost. Keep it apart from them.
    # Public half: \(recipient.text)
    \(KeyText.text(Array(key.rawRepresentation), behind: Self.prefix))

    """
  }

  package var description: String { "(the private key of \(recipient.shortText))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// How a passphrase becomes a private key: scrypt's parameters (RFC 7914) and the salt.
package struct PassphraseStretch: Sendable, Hashable {
  static let saltSize = 16
  static let passphraseMax = 1024
  /// A backup must not choose how much memory its reader spends.
  private static let memoryMax = 256 << 20

  /// The binary logarithm of scrypt's N.
  let logN: Int
  let r: Int
  let p: Int
  let salt: [UInt8]

  /// - Precondition: the parameters are within the bounds that a reader accepts.
  init(logN: Int, r: Int, p: Int, salt: [UInt8]) {
    precondition(
      Self.isBounded(logN, r: r, p: p) && salt.count == Self.saltSize, "scrypt(2^\(logN), \(r), \(p)) is out of bounds.")
    self.logN = logN
    self.r = r
    self.p = p
    self.salt = salt
  }

  /// With a fresh salt. OWASP Password Storage Cheat Sheet: N = 2^17, r = 8, p = 1, which takes 128 MB and half a second.
  ///
  /// - Parameter logN: the binary logarithm of N; tests take a smaller one.
  package init(logN: Int = 17, using random: inout some RandomNumberGenerator) {
    self.init(logN: logN, r: 8, p: 1, salt: (0..<Self.saltSize).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  /// Reads ``bytes``; nil if they are none, or ask for more than a reader gives.
  init?(bytes: [UInt8]) {
    guard bytes.count == 3 + Self.saltSize, Self.isBounded(Int(bytes[0]), r: Int(bytes[1]), p: Int(bytes[2])) else {
      return nil
    }
    self.init(logN: Int(bytes[0]), r: Int(bytes[1]), p: Int(bytes[2]), salt: Array(bytes[3...]))
  }

  var bytes: [UInt8] { [UInt8(logN), UInt8(r), UInt8(p)] + salt }
  var memoryBytes: Int { (r << logN) * 128 * p }

  private static func isBounded(_ logN: Int, r: Int, p: Int) -> Bool {
    (1...20).contains(logN) && (1...16).contains(r) && (1...8).contains(p) && (r << logN) * 128 * p <= memoryMax
  }
}

/// Keys as words: a prefix that says what it is, then base64 of the bytes with the first four of their SHA-256.
private enum KeyText {
  private static let checkSize = 4

  static func text(_ payload: [UInt8], behind prefix: String) -> String {
    prefix + Base64.encode(payload + check(payload, prefix), as: .url)
  }

  static func payload(of text: String, behind prefix: String) -> [UInt8]? {
    let word = text.filter { !$0.isWhitespace }
    guard word.hasPrefix(prefix), word.utf8.count <= 256,
      let bytes = Base64.decode(word.utf8.dropFirst(prefix.utf8.count)), bytes.count > checkSize
    else { return nil }
    let payload = Array(bytes.dropLast(checkSize))
    return bytes.suffix(checkSize).elementsEqual(check(payload, prefix)) ? payload : nil
  }

  private static func check(_ payload: [UInt8], _ prefix: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(prefix.utf8) + payload).prefix(checkSize))
  }
}

/// Why a backup cannot be made, read or kept.
package struct BackupError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of reason.
  package enum Code: Sendable, Hashable {
    /// What was asked for cannot be done: another file, folder or key is needed.
    case unsuitable
    /// The backup is no backup, or not what was written.
    case damaged
    /// It is sealed, and what was given does not open it.
    case sealed
    /// The disk, the system or a command refused.
    case failed
  }

  package let code: Code
  /// What happened, and what to do.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
