/// A pattern as a tree.
indirect enum PatternNode: Sendable {
  case empty
  case bytes(ByteSet)
  case start
  case end
  case sequence([PatternNode])
  case choice([PatternNode])
  /// `max` nil: any number of times.
  case repeated(PatternNode, min: Int, max: Int?)

  /// Whether every way through begins with `^`.
  var isAnchored: Bool {
    switch self {
    case .start: true
    case .sequence(let parts): parts.first?.isAnchored ?? false
    case .choice(let ways): ways.allSatisfy(\.isAnchored)
    case .repeated(let node, let min, _): min > 0 && node.isAnchored
    case .empty, .bytes, .end: false
    }
  }
}

/// A set of bytes, as 256 bits.
struct ByteSet: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init() {}

  init(_ range: ClosedRange<UInt8>) { insert(range) }

  mutating func insert(_ range: ClosedRange<UInt8>) { for byte in range { insert(byte) } }

  mutating func insert(_ byte: UInt8) {
    let bit = UInt64(1) << (byte & 63)
    switch byte >> 6 {
    case 0: words.0 |= bit
    case 1: words.1 |= bit
    case 2: words.2 |= bit
    default: words.3 |= bit
    }
  }

  mutating func formUnion(_ other: ByteSet) {
    words = (words.0 | other.words.0, words.1 | other.words.1, words.2 | other.words.2, words.3 | other.words.3)
  }

  var inverted: ByteSet {
    var other = ByteSet()
    other.words = (~words.0, ~words.1, ~words.2, ~words.3)
    return other
  }

  func contains(_ byte: UInt8) -> Bool {
    let bit = UInt64(1) << (byte & 63)
    switch byte >> 6 {
    case 0: return words.0 & bit != 0
    case 1: return words.1 & bit != 0
    case 2: return words.2 & bit != 0
    default: return words.3 & bit != 0
    }
  }

  static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

  func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
