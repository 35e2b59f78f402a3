import TestSupport
import Testing

@testable import Backups

/// A stream in memory, read in pieces of awkward sizes.
private final class MemoryStream: BackupOutput, BackupInput {
  var bytes: [UInt8]
  private var position = 0
  private let step: Int

  init(_ bytes: [UInt8] = [], step: Int = .max) {
    self.bytes = bytes
    self.step = step
  }

  func write(_ more: [UInt8]) { bytes += more }

  func read(upTo count: Int) -> [UInt8] {
    let part = bytes[position...].prefix(min(count, step))
    position += part.count
    return Array(part)
  }
}

@Suite("The sealed form of a backup")
struct SealedStreamTests {
  /// The two kinds: open, and sealed to a key.
  static let identity = BackupIdentity.generate()

  private static func written(_ content: [UInt8], to recipient: BackupRecipient?) throws -> [UInt8] {
    let stream = MemoryStream()
    var writer = try SealedWriter(to: recipient, output: stream)
    try writer.write(content)
    try writer.finish()
    return stream.bytes
  }

  private static func read(_ bytes: [UInt8], opener: BackupOpener, step: Int = .max) throws -> [UInt8] {
    var reader = try SealedReader(MemoryStream(bytes, step: step), opener: opener)
    var content: [UInt8] = []
    while let piece = try reader.next() { content += piece }
    return content
  }

  private static func content(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

  /// Why bytes cannot be read; nil if they can.
  private static func objection(_ bytes: [UInt8], opener: BackupOpener) -> BackupError.Code? {
    do {
      _ = try read(bytes, opener: opener)
      return nil
    } catch {
      return (error as? BackupError)?.code
    }
  }

  static let sizes = [0, 1, SealedForm.pieceSize - 1, SealedForm.pieceSize, SealedForm.pieceSize + 1, 3 * SealedForm.pieceSize]

  @Test("what was written comes out, whatever its size", arguments: sizes, [true, false])
  func roundTrip(size: Int, isSealed: Bool) throws {
    let content = Self.content(size)
    let bytes = try Self.written(content, to: isSealed ? Self.identity.recipient : nil)
    #expect(try Self.read(bytes, opener: isSealed ? .identity(Self.identity) : .none, step: 4099) == content)
    // An open one is read whatever is given to open it.
    if !isSealed { #expect(try Self.read(bytes, opener: .identity(Self.identity)) == content) }
  }

  @Test("nothing of the content shows in a sealed one")
  func opaque() throws {
    let content = Array(repeating: Array("doubloon pieces of eight ".utf8), count: 200).flatMap(\.self)
    let bytes = try Self.written(content, to: Self.identity.recipient)
    #expect(bytes.firstRange(of: Array("pieces".utf8)) == nil)
    #expect(try Self.written(content, to: nil).firstRange(of: Array("pieces".utf8)) != nil)
    #expect(try Self.written(content, to: Self.identity.recipient) != bytes)
  }

  @Test("a flipped bit anywhere is found", arguments: [true, false])
  func flips(isSealed: Bool) throws {
    let bytes = try Self.written(Self.content(700), to: isSealed ? Self.identity.recipient : nil)
    let opener: BackupOpener = isSealed ? .identity(Self.identity) : .none
    for index in bytes.indices {
      var flipped = bytes
      flipped[index] ^= 1 << UInt8(index % 8)
      let objection = Self.objection(flipped, opener: opener)
      // In the magic it is no backup at all; in the recipient it is somebody else's.
      let expected: Set<BackupError.Code> =
        index < 17 ? [.unsuitable, .sealed, .damaged] : index < 49 ? [.damaged, .sealed] : [.damaged]
      #expect(objection.map(expected.contains) == true, "byte \(index): \(String(describing: objection))")
    }
  }

  @Test("one that ends early is found, wherever it ends", arguments: [true, false])
  func truncated(isSealed: Bool) throws {
    let bytes = try Self.written(Self.content(300), to: isSealed ? Self.identity.recipient : nil)
    let opener: BackupOpener = isSealed ? .identity(Self.identity) : .none
    for count in bytes.indices {
      #expect(Self.objection(Array(bytes[..<count]), opener: opener) == .damaged, "\(count) bytes of \(bytes.count)")
    }
    #expect(Self.objection(bytes + [0], opener: opener) == .damaged)
  }

  @Test("pieces that were moved, left out, doubled or cut off at their edge are found", arguments: [true, false])
  func moved(isSealed: Bool) throws {
    let size = SealedForm.pieceSize
    let bytes = try Self.written(Self.content(3 * size), to: isSealed ? Self.identity.recipient : nil)
    let opener: BackupOpener = isSealed ? .identity(Self.identity) : .none
    let piece = 4 + size + (isSealed ? SealedForm.tagSize : SealedForm.digestSize)
    let head = bytes.count - 3 * piece
    let pieces = (0..<3).map { Array(bytes[(head + $0 * piece)..<(head + ($0 + 1) * piece)]) }
    func with(_ order: [Int]) -> [UInt8] { Array(bytes[..<head]) + order.flatMap { pieces[$0] } }
    #expect(Self.objection(with([0, 1, 2]), opener: opener) == nil)
    for order in [[1, 0, 2], [0, 2], [0, 1], [0, 0, 1, 2], [0, 1, 1, 2], [2], [0, 1, 2, 2], []] {
      #expect(Self.objection(with(order), opener: opener) == .damaged, "\(order)")
    }
  }

  @Test("a piece of another backup to the same key does not fit")
  func foreignPiece() throws {
    let (one, other) = (
      try Self.written(Self.content(100), to: Self.identity.recipient),
      try Self.written(Self.content(100), to: Self.identity.recipient)
    )
    let head = one.count - 4 - 100 - SealedForm.tagSize
    #expect(Self.objection(Array(one[..<head] + other[head...]), opener: .identity(Self.identity)) == .damaged)
  }

  @Test("what does not open it is told apart, in sentences that say what to give")
  func wrongOpener() throws {
    var random = SystemRandomNumberGenerator()
    let word = Array("correct horse".utf8)
    let stretched = try BackupIdentity(passphrase: word, stretch: PassphraseStretch(logN: 4, using: &random))
    let toKey = try Self.written([1, 2, 3], to: Self.identity.recipient)
    let toWord = try Self.written([1, 2, 3], to: stretched.recipient)
    #expect(try Self.read(toWord, opener: .passphrase(word)) == [1, 2, 3])
    let rows: [([UInt8], BackupOpener, String)] = [
      (toKey, .none, "--key"), (toKey, .passphrase(word), "--key"),
      (toKey, .identity(.generate()), "this is the private key of"), (toWord, .none, "--passphrase-file"),
      (toWord, .identity(Self.identity), "--passphrase-file"), (toWord, .passphrase(word + [33]), "not the one"),
    ]
    for (bytes, opener, part) in rows {
      let error = #expect(throws: BackupError.self) { try Self.read(bytes, opener: opener) }
      #expect(error?.code == .sealed && error?.message.contains(part) == true, "\(error?.message ?? "none")")
    }
  }

  @Test("a head that asks for too much work is refused before it is done")
  func greedyHead() throws {
    var random = SystemRandomNumberGenerator()
    let word = Array("correct horse".utf8)
    let stretched = try BackupIdentity(passphrase: word, stretch: PassphraseStretch(logN: 4, using: &random))
    var bytes = try Self.written([1], to: stretched.recipient)
    bytes[17 + 64] = 30
    #expect(Self.objection(bytes, opener: .passphrase(word)) == .damaged)
    #expect(throws: BackupError.self) {
      try BackupIdentity(passphrase: [], stretch: PassphraseStretch(logN: 4, using: &random))
    }
  }

  @Test("keys are words that show a lost letter, and hide their secret")
  func words() throws {
    let text = Self.identity.recipient.text
    #expect(BackupRecipient(text) == Self.identity.recipient)
    #expect(BackupRecipient("  \(text)\n") == Self.identity.recipient)
    #expect(BackupIdentity(Self.identity.fileText)?.recipient == Self.identity.recipient)
    var random = SystemRandomNumberGenerator()
    let stretched = try BackupIdentity(passphrase: [1], stretch: PassphraseStretch(logN: 4, using: &random)).recipient
    #expect(BackupRecipient(stretched.text) == stretched && stretched.stretch != nil)
    #expect(BackupRecipient("") == nil && BackupRecipient(Self.identity.fileText) == nil && BackupIdentity(text) == nil)
    for index in text.indices {
      var other = text
      other.replaceSubrange(index...index, with: other[index] == "A" ? "B" : "A")
      #expect(BackupRecipient(other) == nil, "\(other)")
      other.remove(at: index)
      #expect(BackupRecipient(other) == nil, "\(other)")
    }
    let secret = try #require(Self.identity.fileText.split(separator: "\n").last)
    #expect(!"\(Self.identity) \(String(reflecting: Self.identity))".contains(secret))
  }
}
