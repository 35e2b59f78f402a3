import NIOCore
import TextFormats

/// The `Date` header, kept as text for as long as its second lasts (RFC 9110 §6.6.1).
package struct DateHeader {
  private var second: Int64 = -1
  private var line: [UInt8] = []

  /// Takes the present time, in milliseconds since 1970.
  mutating func set(_ now: Int64) {
    let current = now / 1000
    guard current != second else { return }
    second = current
    line = Array("Date: \(Self.text(second: current))\r\n".utf8)
  }

  func write(to buffer: inout ByteBuffer) { buffer.writeBytes(line) }

  /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(second: Int64) -> String { CalendarTime(milliseconds: second * 1000).httpDate }
}
