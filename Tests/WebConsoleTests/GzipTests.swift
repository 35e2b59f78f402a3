import Testing

@testable import WebConsole

/// Packed files, unpacked by a reader that knows the format alone (RFC 1951, RFC 1952).
struct GzipTests {
  @Test("What was packed is what is unpacked, of texts with and without repeats")
  func unpacks() throws {
    var random = FixedNumbers(seed: 7)
    let words = (0..<300).map { _ in (0..<random.next(9)).map { _ in UInt8(97 + random.next(26)) } }
    let texts: [[UInt8]] = [
      [], [0], [1, 2], Array("abc".utf8), Array(0...255), Array(repeating: 65, count: 1_000),
      Array(repeating: 65, count: 3 + 258), (0..<2_000).map { _ in UInt8(random.next(256)) },
      (0..<2_000).flatMap { _ in words[random.next(300)] },
      // The farthest way back that the format has, and one farther.
      Array("distance".utf8) + (0..<(32_768 - 8)).map { UInt8($0 % 251) } + Array("distance".utf8),
      Array("distance".utf8) + (0..<32_768).map { UInt8($0 % 251) } + Array("distance".utf8),
    ]
    for text in texts { #expect(try Unpacking.unpack(Gzip.pack(text)) == text, "\(text.prefix(20))") }
  }

  @Test("The checksum is the one that everybody knows, and repeats are packed")
  func checksum() {
    let packed = Gzip.pack(Array("123456789".utf8))
    #expect(Array(packed.suffix(8)) == [0x26, 0x39, 0xF4, 0xCB, 9, 0, 0, 0])
    #expect(Gzip.pack(Array(repeating: 65, count: 100_000)).count < 1_000)
  }

  @Test("The console's files are packed well, and as they are")
  func files() throws {
    let files = ConsoleFiles()
    let names = files.names.filter { $0.hasSuffix(".js") || $0.hasSuffix(".css") }.prefix(6)
    for name in names {
      let (whole, packed) = (try #require(files[name]?.bytes), try #require(files.packed(name)))
      #expect(packed.count * 5 < whole.count * 3, "\(name)")
      #expect(try Unpacking.unpack(packed) == whole, "\(name)")
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

/// Reads a gzip file of one block with fixed codes.
private struct Unpacking {
  struct Broken: Error {
    let what: String
  }

  private static let lengths = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let distances = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193,
    12289, 16385, 24577,
  ]
  private let bytes: [UInt8]
  private var at = 80

  static func unpack(_ file: [UInt8]) throws -> [UInt8] {
    guard file.prefix(4) == [0x1F, 0x8B, 8, 0] else { throw Broken(what: "head") }
    var reader = Unpacking(bytes: file)
    guard reader.bits(3) == 3 else { throw Broken(what: "block") }
    var out: [UInt8] = []
    while true {
      let symbol = reader.symbol()
      if symbol == 256 { break }
      guard symbol > 256 else {
        out.append(UInt8(symbol))
        continue
      }
      let length = symbol - 257
      let count = lengths[length] + (length < 8 || length == 28 ? 0 : reader.bits(length / 4 - 1))
      let code = reader.code(5)
      let distance = distances[code] + (code < 4 ? 0 : reader.bits(code / 2 - 1))
      guard distance <= min(out.count, 32_768) else { throw Broken(what: "distance \(distance)") }
      for _ in 0..<count { out.append(out[out.count - distance]) }
    }
    guard (reader.at + 7) / 8 + 8 == file.count else { throw Broken(what: "length") }
    return out
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func bits(_ count: Int) -> Int { (0..<count).reduce(0) { $0 | bit() << $1 } }

  private mutating func code(_ count: Int) -> Int { (0..<count).reduce(0) { value, _ in value << 1 | bit() } }

  private mutating func bit() -> Int {
    defer { at += 1 }
    return Int(bytes[at / 8] >> UInt8(at % 8)) & 1
  }

  private mutating func symbol() -> Int {
    let seven = code(7)
    if seven < 24 { return 256 + seven }
    let eight = seven << 1 | bit()
    switch eight {
    case 0x30..<0xC0: return eight - 0x30
    case 0xC0..<0xC8: return 280 + eight - 0xC0
    default: return 144 + (eight << 1 | bit()) - 0x190
    }
  }
}
