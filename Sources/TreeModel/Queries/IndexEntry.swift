/// A child's place among the children of its parent in some order: its rank, then its key (``IndexRank``, ``PathBytes``).
/// Comparing two places byte by byte gives the order.
public struct IndexEntry: Sendable, Hashable, Comparable {
  /// The binary form.
  public let bytes: [UInt8]

  /// Takes bytes that were written by this type.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The place of a child.
  public init(_ rank: IndexRank, _ key: Key) {
    bytes = rank.bytes + PathBytes.root.child(key).bytes
  }

  /// The rank and the key; nil if the bytes are no place, which for stored bytes means that the file is damaged.
  public var parts: (rank: IndexRank, key: Key)? {
    guard let rank = IndexRank(leading: bytes) else { return nil }
    guard let (key, end) = PathBytes(bytes: Array(bytes[rank.bytes.count...])).key(at: 0),
      rank.bytes.count + end == bytes.count
    else { return nil }
    return (rank, key)
  }

  /// The order of the index: bytewise.
  public static func < (a: IndexEntry, b: IndexEntry) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}

/// What a child is ordered by in an index, in a binary form that sorts bytewise as the values do.
///
/// | Value | Bytes |
/// |---|---|
/// | nothing, `false`, `true`, a map | `02`, `03`, `04`, `07` |
/// | a number | `05`, then the double's bits, big-endian: all flipped if negative, else the sign bit |
/// | a string | `06`, then its UTF-8 with `EE` and `EF` raised as in ``PathBytes`` and `00` as `00 FF`, then `00 00` |
/// | a string over ``stringBytesMax`` | the same of its beginning, then `00 01` |
///
/// None is the beginning of another. Long strings with one beginning share a rank: who reads them sorts them by their values.
public struct IndexRank: Sendable, Hashable {
  /// The binary form.
  public let bytes: [UInt8]
  /// Whether other values have this rank too: that of long strings with one beginning.
  public let isShared: Bool

  /// How many bytes of a string an index keeps: one long value must not make every look-up read it.
  public static let stringBytesMax = 256

  /// The rank of nothing: below every value.
  public static let null = IndexRank([2])
  /// The rank that all maps share: above every value.
  public static let map = IndexRank([7])

  private init(_ bytes: [UInt8], isShared: Bool = false) {
    self.bytes = bytes
    self.isShared = isShared
  }

  /// The rank of a value; nil is nothing.
  public init(_ scalar: Scalar?) {
    switch scalar {
    case nil: self = .null
    case .bool(let value): self.init([value ? 4 : 3])
    case .int(let value): self.init(number: Double(value))
    case .double(let value): self.init(number: value)
    case .string(let value): self.init(string: value)
    }
  }

  private init(number: Double) {
    let bits = number == 0 ? 0 : number.bitPattern
    let sorted = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    var bytes: [UInt8] = [5]
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: sorted >> shift)) }
    self.init(bytes)
  }

  private init(string: String) {
    var bytes: [UInt8] = [6]
    bytes.reserveCapacity(min(string.utf8.count, Self.stringBytesMax) + 3)
    for byte in string.utf8.prefix(Self.stringBytesMax) {
      switch byte {
      case 0: bytes += [0, 0xFF]
      case 0xEE: bytes.append(0xFE)
      case 0xEF: bytes.append(0xFF)
      default: bytes.append(byte)
      }
    }
    let isCut = string.utf8.count > Self.stringBytesMax
    bytes += [0, isCut ? 1 : 0]
    self.init(bytes, isShared: isCut)
  }

  /// The rank at the beginning of some bytes; nil if there is none.
  init?(leading bytes: [UInt8]) {
    switch bytes.first {
    case 2, 3, 4, 7: self.init([bytes[0]])
    case 5:
      guard bytes.count >= 9 else { return nil }
      self.init(Array(bytes[..<9]))
    case 6:
      var at = 1
      while at + 1 < bytes.count {
        guard bytes[at] == 0 else {
          at += 1
          continue
        }
        if bytes[at + 1] == 0xFF {
          at += 2
          continue
        }
        self.init(Array(bytes[...(at + 1)]), isShared: bytes[at + 1] == 1)
        return
      }
      return nil
    default: return nil
    }
  }
}
