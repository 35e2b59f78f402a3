/// A code in which what is frequent is short (Huffman), with the codes of each length in the order of their symbols, as deflate has it
/// (RFC 1951 §3.2.2).
struct PrefixCode {
  /// In which order deflate names the lengths of the code of lengths.
  static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
  /// Of deflate, in bits.
  private static let longest = 15

  /// How many bits the code of each symbol has; 0 where it has none.
  let lengths: [Int]
  /// The code of each symbol.
  let codes: [Int]
  /// How many codes there are of each length.
  private let counts: [Int]
  /// The symbols that have a code, in its order.
  private let symbols: [Int]

  /// - `lengths`: of each symbol's code, 0 to 15 bits.
  init(lengths: [Int]) {
    self.lengths = lengths
    counts = lengths.reduce(into: [Int](repeating: 0, count: Self.longest + 1)) { $0[$1] += $1 == 0 ? 0 : 1 }
    let used = lengths.indices.filter { lengths[$0] > 0 }
    symbols = (1...Self.longest).flatMap { length in used.filter { lengths[$0] == length } }
    var (codes, code, length) = ([Int](repeating: 0, count: lengths.count), 0, 0)
    for symbol in symbols {
      code <<= lengths[symbol] - length
      (length, codes[symbol], code) = (lengths[symbol], code, code + 1)
    }
    self.codes = codes
  }

  /// The best one for symbols that occur so often.
  ///
  /// - `longest`: how many bits a code may have.
  init(_ counts: [Int], longest: Int) {
    var counts = counts
    var depths = Self.depths(counts)
    while depths.contains(where: { $0 > longest }) {
      // Frequencies that differ less make a tree that is less deep.
      counts = counts.map { ($0 + 1) / 2 }
      depths = Self.depths(counts)
    }
    self.init(lengths: depths)
  }

  /// How deep each symbol is in the tree that joins the two rarest again and again.
  private static func depths(_ counts: [Int]) -> [Int] {
    var depths = [Int](repeating: 0, count: counts.count)
    var trees = counts.indices.filter { counts[$0] > 0 }.map { (weight: counts[$0], leaves: [$0]) }
    trees.sort { $0.weight > $1.weight }
    if trees.count == 1 { depths[trees[0].leaves[0]] = 1 }
    while trees.count > 1 {
      let (one, other) = (trees.removeLast(), trees.removeLast())
      let joined = (weight: one.weight + other.weight, leaves: one.leaves + other.leaves)
      for leaf in joined.leaves { depths[leaf] += 1 }
      trees.insert(joined, at: trees.firstIndex { $0.weight <= joined.weight } ?? trees.count)
    }
    return depths
  }

  /// The symbol whose code the next bits are; nil if they are none's.
  func symbol(_ bit: () -> Int?) -> Int? {
    var (code, first, index) = (0, 0, 0)
    for length in 1...Self.longest {
      guard let bit = bit() else { return nil }
      code |= bit
      if code - first < counts[length] { return symbols[index + code - first] }
      index += counts[length]
      (first, code) = ((first + counts[length]) << 1, code << 1)
    }
    return nil
  }
}
