import TextFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

// Comparing bytes as C does it, several times as fast as the standard library's element by element.

extension UnsafeRawBufferPointer {
  /// Byte order, as SQLite compares blobs: below zero if this comes first, zero if they are the same.
  public func order(_ other: UnsafeRawBufferPointer) -> Int {
    if let a = baseAddress, let b = other.baseAddress {
      // Both lengths bound the comparison.
      let order = memcmp(a, b, Swift.min(count, other.count))
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }

  /// Whether this comes before the other in byte order.
  public func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    order(other) < 0
  }

  /// Whether these are the same bytes.
  public func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    count == other.count && order(other) == 0
  }

  /// Whether these bytes begin with others.
  public func begins(with prefix: UnsafeRawBufferPointer) -> Bool {
    count >= prefix.count && UnsafeRawBufferPointer(rebasing: self[..<prefix.count]).order(prefix) == 0
  }

  /// Whether these bytes stand somewhere in it.
  public func contains(_ other: StaticString) -> Bool {
    let other = UnsafeRawBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
    guard let initial = other.first else { return true }
    var start = 0
    while let index = first(initial, from: start) {
      if UnsafeRawBufferPointer(rebasing: self[index...]).begins(with: other) { return true }
      start = index + 1
    }
    return false
  }
}

extension [UInt8] {
  /// Whether this comes before the other in byte order.
  public func precedes(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { a in other.withUnsafeBytes { b in a.precedes(b) } }
  }
}

extension String {
  /// The text that these bytes are in UTF-8; nil if they are not UTF-8.
  ///
  /// As `String(validating:as:)`, whose way through generic code costs several times as much: decoding repairs what is not
  /// UTF-8, and a repaired text has other bytes.
  public init?(utf8 bytes: UnsafeRawBufferPointer) {
    self.init(decoding: bytes, as: UTF8.self)
    guard withUTF8({ UnsafeRawBufferPointer($0).isSame(as: bytes) }) else { return nil }
  }
}
