import Testing

@testable import WebConsole

/// Packed files. Python packed those that the program carries, and browsers unpack those of the stage "console".
struct GzipTests {
  @Test("What was packed is what is unpacked, of texts with and without repeats")
  func unpacks() throws {
    var random = FixedNumbers(seed: 7)
    let words = (0..<300).map { _ in (0..<random.next(9)).map { _ in UInt8(97 + random.next(26)) } }
    // Bytes of which each is half as frequent as the one before: their codes would be longer than the format has them.
    let halves = (0..<18).flatMap { [UInt8](repeating: UInt8($0 * 7), count: 1 << (17 - $0)) }
    let texts: [[UInt8]] = [
      [], [0], [1, 2], Array("abc".utf8), Array(0...255), Array(repeating: 65, count: 1_000),
      Array(repeating: 65, count: 3 + 258), (0..<2_000).map { _ in UInt8(random.next(256)) },
      (0..<2_000).flatMap { _ in words[random.next(300)] },
      // The farthest way back that the format has, and one farther.
      Array("distance".utf8) + (0..<(32_768 - 8)).map { UInt8($0 % 251) } + Array("distance".utf8),
      Array("distance".utf8) + (0..<32_768).map { UInt8($0 % 251) } + Array("distance".utf8),
      (0..<6_000).map { _ in halves[random.next(halves.count)] },
    ]
    for text in texts { #expect(try Gunzip.unpack(Gzip.pack(text)) == text, "\(text.prefix(20))") }
  }

  @Test("The checksum is the one that everybody knows, and repeats are packed")
  func checksum() {
    let packed = Gzip.pack(Array("123456789".utf8))
    #expect(Array(packed.suffix(8)) == [0x26, 0x39, 0xF4, 0xCB, 9, 0, 0, 0])
    #expect(Gzip.pack(Array(repeating: 65, count: 100_000)).count < 1_000)
  }

  @Test("No code is longer than the format has it, and none is left without a symbol")
  func codes() {
    var fibonacci = [1, 1]
    while fibonacci.count < 30 { fibonacci.append(fibonacci[fibonacci.count - 1] + fibonacci[fibonacci.count - 2]) }
    for longest in [7, 15] {
      let lengths = PrefixCode(fibonacci, longest: longest).lengths
      #expect(lengths.allSatisfy { (1...longest).contains($0) })
      #expect(lengths.reduce(0) { $0 + 1 << (longest - $1) } == 1 << longest)
    }
    #expect(PrefixCode([0, 3, 0], longest: 15).lengths == [0, 1, 0])
    #expect(PrefixCode([0, 0], longest: 15).lengths == [0, 0])
  }

  @Test("Blocks of every kind are read")
  func blocks() throws {
    // As zlib packs "aaaaaaaaaaaab" with its levels 0 and 9: stored, and with the fixed codes.
    let (stored, fixed): ([UInt8], [UInt8]) = (
      [1, 13, 0, 0xF2, 0xFF] + Array("aaaaaaaaaaaab".utf8), [0x4B, 0x4C, 0x44, 0x80, 0x24, 0x00]
    )
    let checksum = Gzip.checksum(of: Array("aaaaaaaaaaaab".utf8))
    let tail = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: checksum >> $0) } + [13, 0, 0, 0]
    for block in [stored, fixed] {
      #expect(try Gunzip.unpack([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + block + tail) == Array("aaaaaaaaaaaab".utf8))
    }
  }

  @Test("A damaged file is refused, or is the file: never another one, and never the end of the process")
  func damaged() {
    let text = Array("It is more than one line.\nIt is more than one line, and other bytes: 0123456789\n".utf8)
    let packed = Gzip.pack(text)
    for place in packed.indices {
      #expect((try? Gunzip.unpack(Array(packed[..<place]))) == nil)
      for bit in 0..<8 {
        var damaged = packed
        damaged[place] ^= 1 << bit
        let found = try? Gunzip.unpack(damaged)
        #expect(found == nil || found == text, "bit \(bit) of byte \(place)")
      }
    }
  }

  @Test("The console's files are packed well, and as they are")
  func files() throws {
    let files = ConsoleFiles()
    let names = files.names.filter { $0.hasSuffix(".js") || $0.hasSuffix(".css") }.prefix(6)
    for name in names {
      let (whole, packed) = (try #require(files[name]?.bytes), try #require(files.packed(name)))
      #expect(packed.count * 2 < whole.count, "\(name)")
      #expect(try Gunzip.unpack(packed) == whole, "\(name)")
    }
    #expect(ConsoleFiles { _ in Array(repeating: 65, count: 9_000) }.packed("app.js") == nil)
  }
}

/// The same numbers in each run.
private struct FixedNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}
