import StorageCore
import TestSupport
import Testing
import TreeModel

/// The bytes that records are stored in: what was written reads back, and what nobody wrote is refused.
@Suite struct ByteFormTests {
  /// Writes with one writer and gives the bytes.
  private func bytes(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
  }

  /// Reads bytes to their end; nil if they are damaged.
  private func read<Value>(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value) -> Value? {
    whole {
      try bytes.withUnsafeBytes { buffer in
        var reader = ByteReader(buffer)
        let value = try body(&reader)
        try reader.finish()
        return value
      }
    }
  }

  @Test(
    "an unsigned number has seven bits in a byte, the lowest first",
    arguments: [
      (0, [0]), (1, [1]), (127, [127]), (128, [0x80, 1]), (300, [0xAC, 2]),
      (.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
    ] as [(UInt64, [UInt8])])
  func unsigned(_ value: UInt64, _ expected: [UInt8]) {
    #expect(bytes { $0.write(unsigned: value) } == expected)
    #expect(read(expected) { try $0.unsigned() } == value)
  }

  @Test(
    "a small number of either sign is one byte",
    arguments: [
      (0, [0]), (-1, [1]), (1, [2]), (-64, [127]), (64, [0x80, 1]),
      (.max, [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
      (.min, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
    ] as [(Int64, [UInt8])])
  func signed(_ value: Int64, _ expected: [UInt8]) {
    #expect(bytes { $0.write(signed: value) } == expected)
    #expect(read(expected) { try $0.signed() } == value)
  }

  @Test("nil and the empty text are two things")
  func optionalText() {
    for text in [nil, "", "a", "e\u{301}\u{0}😀"] as [String?] {
      let written = bytes { $0.write(optional: text) }
      let back = read(written) { try $0.optionalText() }
      #expect(back.map { $0.map { Array($0.utf8) } } == .some(text.map { Array($0.utf8) }))
    }
    #expect(bytes { $0.write(optional: nil) } != bytes { $0.write(optional: "") })
  }

  @Test("fields read back one after the other, and the reader knows the end")
  func fields() {
    let written = bytes {
      $0.write(byte: 9)
      $0.write(bytes: [1, 2, 3])
      $0.write(text: "é")
      $0.write(scalar: nil)
    }
    let parts = read(written) { reader in
      let parts = (try reader.byte(), try reader.bytes(), try reader.text(), isAtEnd: reader.isAtEnd)
      #expect(try reader.optionalScalar() == nil)
      return parts
    }
    #expect(parts?.0 == 9)
    #expect(parts?.1 == [1, 2, 3])
    #expect(parts?.2 == "é")
    #expect(parts?.isAtEnd == false)
  }

  @Test(
    "bytes that the writer cannot have written are damage",
    arguments: [
      ([], "nothing"), ([6], "an unknown tag"), ([0xFF], "an unknown tag"), ([0], "no value"), ([1, 0], "a byte too many"),
      ([3], "no number"), ([3, 0x80], "half a number"), ([3] + [UInt8](repeating: 0x80, count: 10) + [1], "eleven digits"),
      ([3] + [UInt8](repeating: 0xFF, count: 9) + [2], "a number of 65 bits"),
      ([4, 0, 0, 0, 0, 0, 0, 0], "seven of eight bytes"),
      ([5, 2, 0x61], "half a text"), ([5, 1, 0xFF], "no UTF-8"), ([5, 2, 0xC0, 0x80], "an overlong zero"),
      ([5, 3, 0xED, 0xA0, 0x80], "half a surrogate pair"), ([5] + [UInt8](repeating: 0xFF, count: 9) + [1], "a vast length"),
    ] as [([UInt8], String)])
  func damagedScalars(_ bytes: [UInt8], _ why: String) {
    let error = #expect(throws: StorageError.self, "\(why)") { try bytes.withUnsafeBytes { try Scalar(stored: $0) } }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("restore the last backup") == true)
  }

  @Test("a list of changes that shares, counts or promises more than there is, is damage")
  func damagedLists() {
    let vast = [UInt8](repeating: 0xFF, count: 9) + [1]
    let lists: [[UInt8]] = [
      [], [0], [2, 0], [1], [1, 1], [1] + vast, [1, 1, 1, 0, 0, 0], [1, 1] + vast + [0, 0, 0], [1, 1, 0] + vast + [0, 0],
      [1, 0, 0],
    ]
    for list in lists {
      #expect(decoded(list) == nil, "\(list)")
    }
    #expect(decoded([1, 0]) == [])
  }

  @Test("random changes, scalars and causes read back, and no beginning of them does", arguments: 0..<40 as Range<UInt64>)
  func truncation(_ seed: UInt64) {
    var source = RandomTree(seed: seed)
    let changes = Self.changes(&source)
    let list = LeafChangeList.encode(changes)
    #expect(decoded(list) == changes)
    for count in 0..<list.count { #expect(decoded(Array(list[..<count])) == nil) }
    let scalar = source.scalar()
    let stored = scalar.storedBytes
    #expect(read(stored) { try $0.optionalScalar() } == scalar)
    for count in 0..<stored.count { #expect(scalarOf(Array(stored[..<count])) == nil) }
    let cause = Self.cause(&source)
    #expect(causeOf(cause.storedBytes) == cause)
    for count in 0..<cause.storedBytes.count { #expect(causeOf(Array(cause.storedBytes[..<count])) == nil) }
    #expect(causeOf(cause.storedBytes + [0]) == nil)
  }

  @Test("bytes that a disk changed are read as something else or as damage, and never trap", arguments: 0..<20 as Range<UInt64>)
  func flips(_ seed: UInt64) {
    var source = RandomTree(seed: 1000 + seed)
    let originals = [
      LeafChangeList.encode(Self.changes(&source)), Self.cause(&source).storedBytes, source.scalar().storedBytes,
    ]
    for round in 0..<600 {
      var bytes = originals[round % 3]
      for _ in 0..<Int.random(in: 1...4, using: &source.random) {
        bytes[Int.random(in: 0..<bytes.count, using: &source.random)] = UInt8.random(in: 0...255, using: &source.random)
      }
      // What is read after all must be writable again: it is a value like any other.
      if let changes = decoded(bytes) { #expect(decoded(LeafChangeList.encode(changes))?.count == changes.count) }
      if let cause = causeOf(bytes) { #expect(causeOf(cause.storedBytes) == cause) }
      if let scalar = scalarOf(bytes) { #expect(scalarOf(scalar.storedBytes)?.storedBytes == scalar.storedBytes) }
    }
  }

  private static func changes(_ source: inout RandomTree) -> [LeafChange] {
    let paths = Set((0..<Int.random(in: 0...12, using: &source.random)).map { _ in PathBytes(source.path(depthMax: 4)) })
    return paths.sorted().map { path in
      LeafChange(
        path: source.chance(4) ? path.priority : path, before: source.chance(3) ? nil : source.scalar(),
        after: source.chance(3) ? nil : source.scalar())
    }
  }

  private static func cause(_ source: inout RandomTree) -> Cause {
    let id = EventID(
      epoch: source.pick([1, 2, .max]), revision: Revision(source.pick([1, 300, .max])),
      path: PathBytes(source.path(depthMax: 5)))
    return Cause(event: id, function: source.pick(RandomTree.keys), hop: source.pick([0, 1, 8, .max]))
  }

  private func decoded(_ bytes: [UInt8]) -> [LeafChange]? {
    whole { try bytes.withUnsafeBytes { try LeafChangeList.decode($0) } }
  }

  private func causeOf(_ bytes: [UInt8]) -> Cause? {
    whole { try bytes.withUnsafeBytes { try Cause(stored: $0) } }
  }

  private func scalarOf(_ bytes: [UInt8]) -> Scalar? {
    whole { try bytes.withUnsafeBytes { try Scalar(stored: $0) } }
  }

  /// What a body reads; nil if it meets damage, which is the only error there may be.
  private func whole<Value>(_ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      #expect((error as? StorageError)?.code == .damaged)
      return nil
    }
  }
}
