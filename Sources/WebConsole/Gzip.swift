/// Packs files for the way to a browser (gzip, RFC 1952): scripts and styles become three times smaller.
///
/// One deflate block with codes made for the file (RFC 1951 §3.2.7).
struct Gzip {
  private var packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
  /// Bits that do not make a byte yet, the first one lowest.
  private var (pending, pendingCount): (UInt32, UInt32) = (0, 0)

  /// A gzip file with these bytes.
  static func pack(_ bytes: [UInt8]) -> [UInt8] {
    var file = Gzip()
    file.writeBlock(steps(of: bytes))
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
  static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { value, byte in crcTable[Int((value ^ UInt32(byte)) & 255)] ^ (value >> 8) }
  }
}

// MARK: - What stood there before

extension Gzip {
  /// A byte, or the way back to bytes that stood there before.
  private enum Step {
    case byte(UInt8)
    case back(length: Int, distance: Int)
  }

  /// Lengths and distances that the format has, and how many earlier places are looked at.
  private static let (shortest, longest, window, patience) = (3, 258, 32_768, 48)

  /// The steps that make a text. Where the next byte begins a longer repeat, this one is no part of a repeat.
  private static func steps(of bytes: [UInt8]) -> [Step] {
    // The last place of each hash, and of each place the one before it with the same hash.
    var (last, before) = ([Int](repeating: -1, count: 1 << 14), [Int](repeating: -1, count: bytes.count))
    var (at, noted, steps): (Int, Int, [Step]) = (0, 0, [])
    func longestRepeat(at: Int) -> (length: Int, distance: Int) {
      var best = (length: 0, distance: 0)
      guard at + shortest <= bytes.count else { return best }
      while noted < at {
        let hash = Self.hash(bytes, at: noted)
        (before[noted], last[hash]) = (last[hash], noted)
        noted += 1
      }
      var (place, tries) = (last[Self.hash(bytes, at: at)], patience)
      while place >= 0, at - place <= window, tries > 0, best.length < longest {
        let length = common(bytes, at: place, and: at)
        if length > best.length { best = (length, at - place) }
        (place, tries) = (before[place], tries - 1)
      }
      return best
    }
    var found = longestRepeat(at: 0)
    while at < bytes.count {
      let next = found.length < longest ? longestRepeat(at: at + 1) : (length: 0, distance: 0)
      if found.length >= shortest, found.length >= next.length {
        steps.append(.back(length: found.length, distance: found.distance))
        at += found.length
        found = longestRepeat(at: at)
      } else {
        steps.append(.byte(bytes[at]))
        (at, found) = (at + 1, next)
      }
    }
    return steps
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
  /// A symbol, and further bits behind it.
  private struct Symbol {
    let symbol: Int
    var extra = 0
    var bits: UInt32 = 0

    /// Lengths from 3: eight alone, then four of each number of further bits; the longest has a symbol of its own.
    static func length(_ length: Int) -> Symbol {
      let above = length - Gzip.shortest
      guard length < Gzip.longest else { return Symbol(symbol: 285) }
      guard above >= 8 else { return Symbol(symbol: 257 + above) }
      let bits = highestBit(of: above) - 2
      return Symbol(symbol: 261 + 4 * bits + (above >> bits & 3), extra: above & (1 << bits - 1), bits: UInt32(bits))
    }

    /// Distances from 1: four alone, then two of each number of further bits.
    static func distance(_ distance: Int) -> Symbol {
      let above = distance - 1
      guard above >= 4 else { return Symbol(symbol: above) }
      let bits = highestBit(of: above) - 1
      return Symbol(symbol: 2 * bits + 2 + (above >> bits & 1), extra: above & (1 << bits - 1), bits: UInt32(bits))
    }

    private static func highestBit(of value: Int) -> Int { Int.bitWidth - 1 - value.leadingZeroBitCount }
  }

  /// The end of a block, among bytes and lengths.
  private static let end = 256

  /// Writes a block, the only one: its codes, and the steps in them.
  private mutating func writeBlock(_ steps: [Step]) {
    var (counts, distanceCounts) = ([Int](repeating: 0, count: 286), [Int](repeating: 0, count: 30))
    counts[Self.end] = 1
    for step in steps {
      switch step {
      case .byte(let byte): counts[Int(byte)] += 1
      case .back(let length, let distance):
        counts[Symbol.length(length).symbol] += 1
        distanceCounts[Symbol.distance(distance).symbol] += 1
      }
    }
    let (codes, distanceCodes) = (PrefixCode(counts, longest: 15), PrefixCode(distanceCounts, longest: 15))
    write(0b101, bits: 3)  // The last block, with codes of its own.
    writeLengths(codes.lengths + distanceCodes.lengths)
    for step in steps {
      switch step {
      case .byte(let byte): write(Symbol(symbol: Int(byte)), in: codes)
      case .back(let length, let distance):
        write(.length(length), in: codes)
        write(.distance(distance), in: distanceCodes)
      }
    }
    write(Symbol(symbol: Self.end), in: codes)
  }

  /// Writes how long the codes of all symbols are: each by itself, but runs of symbols without a code by their length.
  private mutating func writeLengths(_ lengths: [Int]) {
    var (symbols, at): ([Symbol], Int) = ([], 0)
    while at < lengths.count {
      let run = min(138, lengths[at...].prefix { $0 == 0 }.count)
      switch run {
      case ..<3: symbols.append(Symbol(symbol: lengths[at]))
      case ..<11: symbols.append(Symbol(symbol: 17, extra: run - 3, bits: 3))
      default: symbols.append(Symbol(symbol: 18, extra: run - 11, bits: 7))
      }
      at += run < 3 ? 1 : run
    }
    let code = PrefixCode(symbols.reduce(into: [Int](repeating: 0, count: 19)) { $0[$1.symbol] += 1 }, longest: 7)
    write(286 - 257, bits: 5)
    write(30 - 1, bits: 5)
    write(19 - 4, bits: 4)
    for symbol in PrefixCode.order { write(code.lengths[symbol], bits: 3) }
    for symbol in symbols { write(symbol, in: code) }
  }

  /// Appends a symbol's code, whose highest bit comes first, and its further bits.
  private mutating func write(_ symbol: Symbol, in code: PrefixCode) {
    for bit in (0..<code.lengths[symbol.symbol]).reversed() { write(code.codes[symbol.symbol] >> bit & 1, bits: 1) }
    write(symbol.extra, bits: symbol.bits)
  }

  /// Appends bits, the lowest first.
  private mutating func write(_ value: Int, bits: UInt32) {
    pending |= UInt32(value) << pendingCount
    pendingCount += bits
    while pendingCount >= 8 {
      packed.append(UInt8(truncatingIfNeeded: pending))
      (pending, pendingCount) = (pending >> 8, pendingCount - 8)
    }
  }
}
