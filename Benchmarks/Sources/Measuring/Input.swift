/// Bytes that were read from a connection and not yet understood.
package struct Input {
  package private(set) var bytes: [UInt8] = []
  private var start = 0

  package init() {}

  package var count: Int { bytes.count - start }

  package subscript(offset: Int) -> UInt8 { bytes[start + offset] }

  package func slice(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[start + range.lowerBound..<start + range.upperBound] }

  /// Four bytes, the most significant first.
  package func int32(at offset: Int) -> Int {
    (0..<4).reduce(0) { $0 << 8 | Int(self[offset + $1]) }
  }

  package mutating func append(_ more: UnsafeRawBufferPointer) {
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  package mutating func consume(_ count: Int) { start += count }

  /// Where a pattern begins, looking from an offset on.
  package func find(_ pattern: [UInt8], from offset: Int = 0, to end: Int? = nil) -> Int? {
    let last = (end ?? count) - pattern.count
    guard offset <= last else { return nil }
    return (offset...last).first { place in pattern.indices.allSatisfy { self[place + $0] == pattern[$0] } }
  }

  /// The whole number that stands at an offset, if there is one.
  package func number(at offset: Int, to end: Int? = nil) -> Int? {
    var place = offset
    let end = end ?? count
    while place < end, self[place] == UInt8(ascii: " ") { place += 1 }
    let digits = slice(place..<end).prefix { $0 >= 48 && $0 <= 57 }
    return Int(String(decoding: digits, as: UTF8.self))
  }
}
