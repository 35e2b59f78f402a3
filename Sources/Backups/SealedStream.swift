import Crypto

/// The form of a backup's bytes: a head that says to whom it is sealed, then pieces in order, the last of which says so.
///
/// | Part | Bytes |
/// |---|---|
/// | magic | `DoubloonBackup1` and a line feed: 16 |
/// | kind | 0 open, 1 sealed to a key, 2 sealed to a passphrase: 1 |
/// | recipient, if sealed | its public key of X25519: 32 |
/// | encapsulated key, if sealed | of HPKE (RFC 9180): 32 |
/// | stretching, if to a passphrase | scrypt's log N, r, p: 3; the salt: 16 |
/// | each piece | a word of 32 bits, the highest byte first: the top bit marks the last piece, the others are its length; the piece |
///
/// A sealed piece is HPKE's (X25519, HKDF-SHA256, ChaCha20-Poly1305), whose nonce counts the pieces; the head and the word are
/// authenticated with it. An open piece is followed by the SHA-256 of the head, its number, the word and itself. So a piece that
/// was changed, moved, left out or added is found, and so is an end that is missing.
enum SealedForm {
  static let magic = Array("DoubloonBackup1\n".utf8)
  static let purpose = Array("doubloon backup 1".utf8)
  static let lastMark: UInt32 = 1 << 31
  /// Bytes in a piece before it is sealed; readers take up to four times as many.
  static let pieceSize = 1 << 18
  static let pieceMax = 1 << 20
  /// What a piece grows by: Poly1305's tag, or a digest.
  static let tagSize = 16
  static let digestSize = 32

  static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

  static func digest(of piece: [UInt8], head: [UInt8], number: UInt64, word: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.update(data: head)
    hash.update(data: withUnsafeBytes(of: number.bigEndian) { Array($0) })
    hash.update(data: word)
    hash.update(data: piece)
    return Array(hash.finalize())
  }

  /// The bytes as what swift-crypto asks for, without a name for it.
  static func converted<Bytes: RangeReplaceableCollection>(_ bytes: [UInt8]) -> Bytes where Bytes.Element == UInt8 {
    Bytes(bytes)
  }
}

/// Where the bytes of a backup go: a file, a command, or a test's list.
package protocol BackupOutput: AnyObject {
  /// Takes all of the bytes, in order.
  func write(_ bytes: [UInt8]) throws
}

/// Where the bytes of a backup come from.
package protocol BackupInput: AnyObject {
  /// At most `count` bytes; none at the end, and only there.
  func read(upTo count: Int) throws -> [UInt8]
}

/// Writes a backup's bytes, sealed or open, piece by piece.
struct SealedWriter {
  private let output: any BackupOutput
  private let head: [UInt8]
  private let headDigest: [UInt8]
  private var sender: HPKE.Sender?
  private var number: UInt64 = 0
  private var pending: [UInt8] = []

  /// Writes the head.
  ///
  /// - Parameter recipient: to whom; nil leaves everything open to read.
  init(to recipient: BackupRecipient?, output: any BackupOutput) throws {
    self.output = output
    var head = SealedForm.magic
    if let recipient {
      guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: recipient.key),
        let sender = try? HPKE.Sender(
          recipientKey: key, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: SealedForm.converted(SealedForm.purpose))
      else { throw BackupError(.unsuitable, "Nothing can be sealed to \(recipient.shortText). Make another pair of keys.") }
      head += [recipient.stretch == nil ? 1 : 2] + recipient.key + Array(sender.encapsulatedKey)
      head += recipient.stretch?.bytes ?? []
      self.sender = sender
    } else {
      head.append(0)
    }
    self.head = head
    headDigest = Array(SHA256.hash(data: head))
    pending.reserveCapacity(SealedForm.pieceSize)
    try output.write(head)
  }

  /// Takes more bytes.
  mutating func write(_ bytes: some Collection<UInt8>) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      // A full piece waits for what comes behind it: only then is it known not to be the last.
      if pending.count == SealedForm.pieceSize { try flush(isLast: false) }
      let part = rest.prefix(SealedForm.pieceSize - pending.count)
      pending.append(contentsOf: part)
      rest = rest[part.endIndex...]
    }
  }

  /// Writes the last piece. Nothing is written after it.
  mutating func finish() throws {
    try flush(isLast: true)
  }

  private mutating func flush(isLast: Bool) throws {
    let word = SealedForm.word(UInt32(pending.count) | (isLast ? SealedForm.lastMark : 0))
    if sender != nil {
      let sealed = try sender?.seal(pending, authenticating: headDigest + word)
      try output.write(word + Array(sealed ?? SealedForm.converted([])))
    } else {
      try output.write(word + pending + SealedForm.digest(of: pending, head: headDigest, number: number, word: word))
    }
    number += 1
    pending.removeAll(keepingCapacity: true)
  }
}

/// What opens a sealed backup.
package enum BackupOpener: Sendable {
  /// Nothing: only an open one can be read.
  case none
  case identity(BackupIdentity)
  case passphrase([UInt8])
}

/// Reads a backup's bytes, piece by piece, each checked before it is given on.
struct SealedReader {
  private let input: any BackupInput
  private let headDigest: [UInt8]
  /// To whom it is sealed; nil if it is open.
  let recipient: BackupRecipient?
  private var opening: HPKE.Recipient?
  private var number: UInt64 = 0
  private var isAtEnd = false

  /// Reads the head.
  ///
  /// - Throws: ``BackupError``, `sealed` if the opener is not of its recipient.
  init(_ input: any BackupInput, opener: BackupOpener) throws {
    self.input = input
    var head = try Self.take(SealedForm.magic.count + 1, of: input, what: "its head")
    guard head.starts(with: SealedForm.magic), head[16] <= 2 else {
      throw BackupError(.unsuitable, "It is no backup of Doubloon, or one of a newer version.")
    }
    guard head[16] > 0 else {
      recipient = nil
      headDigest = Array(SHA256.hash(data: head))
      return
    }
    let keys = try Self.take(2 * BackupRecipient.keySize, of: input, what: "its head")
    var stretch: PassphraseStretch?
    head += keys
    if head[16] == 2 {
      let bytes = try Self.take(3 + PassphraseStretch.saltSize, of: input, what: "its head")
      stretch = PassphraseStretch(bytes: bytes)
      guard stretch != nil else { throw Self.damaged("its head asks for more work than a passphrase is worth") }
      head += bytes
    }
    headDigest = Array(SHA256.hash(data: head))
    let recipient = BackupRecipient(key: Array(keys[..<BackupRecipient.keySize]), stretch: stretch)
    self.recipient = recipient
    let identity = try Self.identity(for: recipient, opener: opener)
    opening = try? HPKE.Recipient(
      privateKey: identity.key, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: SealedForm.converted(SealedForm.purpose),
      encapsulatedKey: SealedForm.converted(Array(keys[BackupRecipient.keySize...])))
    guard opening != nil else { throw Self.damaged("its head is not what was written") }
  }

  private static func identity(for recipient: BackupRecipient, opener: BackupOpener) throws -> BackupIdentity {
    switch (opener, recipient.stretch) {
    case (.none, .some): throw BackupError(.sealed, "It is sealed with a passphrase; give it with --passphrase-file.")
    case (.none, .none):
      throw BackupError(.sealed, "It is sealed to \(recipient.shortText); give the file of its private key with --key.")
    case (.identity, .some):
      throw BackupError(.sealed, "It is sealed with a passphrase, not to a key; give it with --passphrase-file.")
    case (.passphrase, .none):
      throw BackupError(
        .sealed, "It is sealed to \(recipient.shortText), not with a passphrase; give the private key with --key.")
    case (.identity(let identity), .none):
      guard identity.recipient.key == recipient.key else {
        throw BackupError(
          .sealed, "It is sealed to \(recipient.shortText), but this is the private key of \(identity.recipient.shortText).")
      }
      return identity
    case (.passphrase(let passphrase), .some(let stretch)):
      let identity = try BackupIdentity(passphrase: passphrase, stretch: stretch)
      guard identity.recipient.key == recipient.key else {
        throw BackupError(.sealed, "The passphrase is not the one that it was sealed with, or its head was changed.")
      }
      return identity
    }
  }

  /// The next piece; nil behind the last.
  ///
  /// - Throws: ``BackupError``, `damaged` if it is not what was written, or something is missing or added.
  mutating func next() throws -> [UInt8]? {
    guard !isAtEnd else { return nil }
    let word = try Self.take(4, of: input, what: "a piece")
    let value = word.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let count = Int(value & ~SealedForm.lastMark)
    guard count <= SealedForm.pieceMax else { throw Self.damaged("piece \(number) says that it has \(count) bytes") }
    let piece: [UInt8]
    if opening != nil {
      let sealed = try Self.take(count + SealedForm.tagSize, of: input, what: "piece \(number)")
      guard let opened = try? opening?.open(sealed, authenticating: headDigest + word) else { throw changed }
      piece = Array(opened)
    } else {
      piece = try Self.take(count, of: input, what: "piece \(number)")
      let digest = try Self.take(SealedForm.digestSize, of: input, what: "piece \(number)")
      guard digest == SealedForm.digest(of: piece, head: headDigest, number: number, word: word) else { throw changed }
    }
    number += 1
    if value & SealedForm.lastMark != 0 {
      isAtEnd = true
      guard try input.read(upTo: 1).isEmpty else { throw Self.damaged("something stands behind its end") }
    }
    return piece
  }

  private var changed: BackupError { Self.damaged("piece \(number) is not what was written there") }

  static func damaged(_ what: String) -> BackupError {
    BackupError(.damaged, "It is damaged: \(what). Use another backup.")
  }

  private static func take(_ count: Int, of input: any BackupInput, what: String) throws -> [UInt8] {
    var bytes = try input.read(upTo: count)
    while bytes.count < count {
      let more = try input.read(upTo: count - bytes.count)
      guard !more.isEmpty else { throw damaged("it ends in \(what); the rest of it is missing") }
      bytes += more
    }
    return bytes
  }
}
