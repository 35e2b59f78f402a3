/// Packs files for the way to a browser (gzip, RFC 1952): scripts and styles become 2.5 times smaller.
///
/// One deflate block with the fixed codes of RFC 1951 §3.2.6: codes made for the text would save another seventh, and take twice
/// this file.
struct Gzip {
  private var packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
  /// Bits that do not make a byte yet, the first one lowest.
  private var (pending, pendingCount): (UInt32, UInt32) = (0, 0)

  /// A gzip file with these bytes.
  static func pack(_ bytes: [UInt8]) -> [UInt8] {
    var file = Gzip()
    file.write(0b011, bits: 3)  // The last block, of fixed codes.
    file.writeBlock(bytes)
    file.write(symbol: 256)
    if file.pendingCount > 0 { file.write(0, bits: 8 - file.pendingCount) }
    for number in [checksum(of: bytes), UInt32(truncatingIfNeeded: bytes.count)] {
      for shift in [0, 8, 16, 24] as [UInt32] { file.packed.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    return file.packed
  }

  private static let crcTable: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }

  /// CRC-32 as gzip has it.
  private static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { value, byte in crcTable[Int((value ^ UInt32(byte)) & 255)] ^ (value >> 8) }
  }
}

// MARK: - What stood there before

extension Gzip {
  /// Lengths and distances that the format has, and how many earlier places are looked at.
  private static let (shortest, longest, window, patience) = (3, 258, 32_768, 48)

  /// Writes bytes, those that stood there before as the way back to them.
  private mutating func writeBlock(_ bytes: [UInt8]) {
    // The last place of each hash, and of each place the one before it with the same hash.
    var last = [Int](repeating: -1, count: 1 << 14)
    var before = [Int](repeating: -1, count: bytes.count)
    var (at, noted) = (0, 0)
    while at < bytes.count {
      while noted < at, noted + Self.shortest <= bytes.count {
        let hash = Self.hash(bytes, at: noted)
        (before[noted], last[hash]) = (last[hash], noted)
        noted += 1
      }
      var best = (length: 0, distance: 0)
      if at + Self.shortest <= bytes.count {
        var (place, tries) = (last[Self.hash(bytes, at: at)], Self.patience)
        while place >= 0, at - place <= Self.window, tries > 0, best.length < Self.longest {
          let length = Self.common(bytes, at: place, and: at)
          if length > best.length { best = (length, at - place) }
          (place, tries) = (before[place], tries - 1)
        }
      }
      if best.length >= Self.shortest {
        write(length: best.length)
        write(distance: best.distance)
        at += best.length
      } else {
        write(symbol: Int(bytes[at]))
        at += 1
      }
    }
  }

  private static func hash(_ bytes: [UInt8], at: Int) -> Int {
    (Int(bytes[at]) << 9 ^ Int(bytes[at + 1]) << 5 ^ Int(bytes[at + 2])) & (1 << 14 - 1)
  }

  /// How many bytes are the same at two places.
  private static func common(_ bytes: [UInt8], at first: Int, and second: Int) -> Int {
    let most = min(longest, bytes.count - second)
    var count = 0
    while count < most, bytes[first + count] == bytes[second + count] { count += 1 }
    return count
  }
}

// MARK: - Codes

extension Gzip {
  /// Appends bits, the lowest first.
  private mutating func write(_ value: Int, bits: UInt32) {
    pending |= UInt32(value) << pendingCount
    pendingCount += bits
    while pendingCount >= 8 {
      packed.append(UInt8(truncatingIfNeeded: pending))
      (pending, pendingCount) = (pending >> 8, pendingCount - 8)
    }
  }

  /// Appends a code, whose highest bit comes first.
  private mutating func write(code: Int, bits: UInt32) {
    for bit in (0..<bits).reversed() { write(code >> Int(bit) & 1, bits: 1) }
  }

  /// Appends a byte, the end (256), or what begins a length.
  private mutating func write(symbol: Int) {
    switch symbol {
    case 0..<144: write(code: 0x30 + symbol, bits: 8)
    case 144..<256: write(code: 0x190 + symbol - 144, bits: 9)
    case 256..<280: write(code: symbol - 256, bits: 7)
    default: write(code: 0xC0 + symbol - 280, bits: 8)
    }
  }

  /// Lengths from 3: eight alone, then four of each number of further bits; the longest has a symbol of its own.
  private mutating func write(length: Int) {
    let above = length - Self.shortest
    guard length < Self.longest else { return write(symbol: 285) }
    guard above >= 8 else { return write(symbol: 257 + above) }
    let extra = Self.highestBit(of: above) - 2
    write(symbol: 261 + 4 * extra + (above >> extra & 3))
    write(above & (1 << extra - 1), bits: UInt32(extra))
  }

  /// Distances from 1: four alone, then two of each number of further bits.
  private mutating func write(distance: Int) {
    let above = distance - 1
    guard above >= 4 else { return write(code: above, bits: 5) }
    let extra = Self.highestBit(of: above) - 1
    write(code: 2 * extra + 2 + (above >> extra & 1), bits: 5)
    write(above & (1 << extra - 1), bits: UInt32(extra))
  }

  private static func highestBit(of value: Int) -> Int { Int.bitWidth - 1 - value.leadingZeroBitCount }
}
