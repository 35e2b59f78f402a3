internal import Crypto

/// A digest of a set of rows that follows each change of the set: the sum of the rows' SHA-256 modulo 2^256, and how many there
/// are.
///
/// Rows can be added and removed in any order, each for the price of its own hash. So a table has a witness of what it should
/// hold without being read: a row that was changed, removed or added behind the writer's back gives another sum.
public struct RowSetDigest: Sendable, Hashable {
  /// How many rows there are.
  public private(set) var count: Int64 = 0
  /// The sum, its lowest 64 bits first.
  private var sum: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// The digest of no rows.
  public init() {}

  /// What was stored; nil where it is none.
  public init?(count: Int64, bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.count = count
    sum = bytes.withUnsafeBytes(Self.words)
  }

  /// What stands for a number: so many, and the digest of one row.
  public init(count: Int64, row: UnsafeRawBufferPointer) {
    self.count = count
    sum = Self.hash(row)
  }

  /// The sum as it is stored.
  public var bytes: [UInt8] {
    [sum.0, sum.1, sum.2, sum.3].flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) }
  }

  /// Adds a row.
  public mutating func add(_ row: UnsafeRawBufferPointer) {
    let other = Self.hash(row)
    var carry = false
    sum.0 = Self.adding(sum.0, other: other.0, carry: &carry)
    sum.1 = Self.adding(sum.1, other: other.1, carry: &carry)
    sum.2 = Self.adding(sum.2, other: other.2, carry: &carry)
    sum.3 = Self.adding(sum.3, other: other.3, carry: &carry)
    count += 1
  }

  /// Takes a row out.
  public mutating func remove(_ row: UnsafeRawBufferPointer) {
    let other = Self.hash(row)
    var borrow = false
    sum.0 = Self.subtracting(sum.0, other: other.0, borrow: &borrow)
    sum.1 = Self.subtracting(sum.1, other: other.1, borrow: &borrow)
    sum.2 = Self.subtracting(sum.2, other: other.2, borrow: &borrow)
    sum.3 = Self.subtracting(sum.3, other: other.3, borrow: &borrow)
    count -= 1
  }

  private static func adding(_ one: UInt64, other: UInt64, carry: inout Bool) -> UInt64 {
    let (partial, overflow) = one.addingReportingOverflow(other)
    let (result, more) = partial.addingReportingOverflow(carry ? 1 : 0)
    carry = overflow || more
    return result
  }

  private static func subtracting(_ one: UInt64, other: UInt64, borrow: inout Bool) -> UInt64 {
    let (partial, overflow) = one.subtractingReportingOverflow(other)
    let (result, more) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
    borrow = overflow || more
    return result
  }

  private static func hash(_ row: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
    SHA256.hash(data: row).withUnsafeBytes(words)
  }

  private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
    func word(_ index: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    return (word(0), word(1), word(2), word(3))
  }

  /// Whether both are of the same rows.
  public static func == (one: RowSetDigest, other: RowSetDigest) -> Bool {
    one.count == other.count && one.sum == other.sum
  }

  /// Mixes the digest in.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    hasher.combine(sum.0)
  }
}
