/// A child's place among the children of its parent in some order: its rank, then its key (``IndexRank``, ``PathBytes``).
/// Comparing two places byte by byte gives the order.
public struct IndexPlace: Sendable, Hashable, Comparable {
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
  public static func < (a: IndexPlace, b: IndexPlace) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}
