/// Reads a gzip file (RFC 1952) of one member, without optional fields: what `Scripts/console_pack.py` and ``Gzip`` write.
struct Gunzip {
  /// What was read is no such file, or is damaged.
  struct Fault: Error {
    let message: String
  }

  private static let lengths = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let distances = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193,
    12289,
    16385, 24577,
  ]
  private let packed: [UInt8]
  /// The next bit.
  private var at = 80
  private var bytes: [UInt8] = []

  /// The bytes of a gzip file.
  static func unpack(_ packed: [UInt8]) throws(Fault) -> [UInt8] {
    guard packed.count >= 18, packed.starts(with: [0x1F, 0x8B, 8, 0]) else {
      throw Fault(message: "It does not begin as a gzip file.")
    }
    var file = Gunzip(packed: packed)
    while try file.readBlock() {}
    file.at = (file.at + 7) / 8 * 8
    let (checksum, count) = (try file.bits(32), try file.bits(32))
    guard file.at == 8 * packed.count, count == file.bytes.count, checksum == Int(Gzip.checksum(of: file.bytes)) else {
      throw Fault(message: "It ends otherwise than it says.")
    }
    return file.bytes
  }

  private init(packed: [UInt8]) { self.packed = packed }

  /// Reads a block.
  ///
  /// - Returns: whether there is another one.
  private mutating func readBlock() throws(Fault) -> Bool {
    let isLast = try bits(1) == 1
    switch try bits(2) {
    case 0: try readStored()
    case 1:
      let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
      try readSymbols(PrefixCode(lengths: lengths), PrefixCode(lengths: [Int](repeating: 5, count: 30)))
    case 2:
      let (codes, distances) = try readCodes()
      try readSymbols(codes, distances)
    default: throw Fault(message: "It has a block of no known kind.")
    }
    return !isLast
  }

  private mutating func readStored() throws(Fault) {
    at = (at + 7) / 8 * 8
    let (count, inverse) = (try bits(16), try bits(16))
    guard count == ~inverse & 0xFFFF, at / 8 + count <= packed.count else {
      throw Fault(message: "A block is longer than the file.")
    }
    bytes += packed[(at / 8)..<(at / 8 + count)]
    at += 8 * count
  }

  /// The codes that a block brings along: of bytes and lengths, and of distances.
  private mutating func readCodes() throws(Fault) -> (PrefixCode, PrefixCode) {
    let (count, distanceCount, lengthCount) = (try bits(5) + 257, try bits(5) + 1, try bits(4) + 4)
    var own = [Int](repeating: 0, count: 19)
    for symbol in PrefixCode.order.prefix(lengthCount) { own[symbol] = try bits(3) }
    let code = PrefixCode(lengths: own)
    var lengths: [Int] = []
    while lengths.count < count + distanceCount {
      switch try symbol(code) {
      case let length where length < 16: lengths.append(length)
      case 16:
        guard let last = lengths.last else { throw Fault(message: "A length is repeated before there is one.") }
        lengths += [Int](repeating: last, count: try bits(2) + 3)
      case 17: lengths += [Int](repeating: 0, count: try bits(3) + 3)
      default: lengths += [Int](repeating: 0, count: try bits(7) + 11)
      }
    }
    guard lengths.count == count + distanceCount else { throw Fault(message: "There are more codes than symbols.") }
    return (PrefixCode(lengths: Array(lengths[..<count])), PrefixCode(lengths: Array(lengths[count...])))
  }

  private mutating func readSymbols(_ codes: PrefixCode, _ distanceCodes: PrefixCode) throws(Fault) {
    while true {
      let found = try symbol(codes)
      if found == 256 { return }
      guard found > 256 else {
        bytes.append(UInt8(found))
        continue
      }
      let index = found - 257
      guard index < Self.lengths.count else { throw Fault(message: "A length has no known symbol.") }
      let length = Self.lengths[index] + (index < 8 || index == 28 ? 0 : try bits(index / 4 - 1))
      let code = try symbol(distanceCodes)
      guard code < Self.distances.count else { throw Fault(message: "A distance has no known symbol.") }
      let distance = Self.distances[code] + (code < 4 ? 0 : try bits(code / 2 - 1))
      guard distance <= bytes.count else { throw Fault(message: "It repeats what is before its begin.") }
      for _ in 0..<length { bytes.append(bytes[bytes.count - distance]) }
    }
  }

  private mutating func symbol(_ code: PrefixCode) throws(Fault) -> Int {
    guard let symbol = code.symbol({ bit() }) else { throw Fault(message: "Its bits are the code of no symbol.") }
    return symbol
  }

  private mutating func bits(_ count: Int) throws(Fault) -> Int {
    var value = 0
    for place in 0..<count {
      guard let bit = bit() else { throw Fault(message: "It breaks off.") }
      value |= bit << place
    }
    return value
  }

  private mutating func bit() -> Int? {
    guard at / 8 < packed.count else { return nil }
    defer { at += 1 }
    return Int(packed[at / 8] >> UInt8(at % 8)) & 1
  }
}
