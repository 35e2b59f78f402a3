import NIOCore

/// Writes a server's frames (RFC 6455 §5.2): never masked, never fragmented.
enum WebSocketFrames {
  /// The longest header of a server's frame.
  static let headerBytesMax = 10

  static func text(_ payload: some Collection<UInt8>, to buffer: inout ByteBuffer) {
    header(0x81, payload.count, to: &buffer)
    buffer.writeBytes(payload)
  }

  static func ping(to buffer: inout ByteBuffer) { header(0x89, 0, to: &buffer) }

  /// - Parameter payload: what the client's ping carried, at most 125 bytes.
  static func pong(_ payload: [UInt8], to buffer: inout ByteBuffer) {
    header(0x8A, payload.count, to: &buffer)
    buffer.writeBytes(payload)
  }

  /// - Parameter reason: cut to what a control frame holds.
  static func close(_ code: UInt16, _ reason: String, to buffer: inout ByteBuffer) {
    var text = Array(reason.utf8.prefix(123))
    while String(validating: text, as: UTF8.self) == nil { text.removeLast() }
    header(0x88, 2 + text.count, to: &buffer)
    buffer.writeInteger(code)
    buffer.writeBytes(text)
  }

  private static func header(_ first: UInt8, _ length: Int, to buffer: inout ByteBuffer) {
    buffer.writeInteger(first)
    switch length {
    case ..<126: buffer.writeInteger(UInt8(truncatingIfNeeded: length))
    case ...0xFFFF: buffer.writeMultipleIntegers(UInt8(126), UInt16(truncatingIfNeeded: length))
    default: buffer.writeMultipleIntegers(UInt8(127), UInt64(length))
    }
  }
}

extension WebSocketFrames {
  /// A whole message of the realtime protocol as frames; nil if it needs more pieces than clients count.
  static func message(_ message: [UInt8]) -> ByteBuffer? {
    guard let pieces = MessagePieces.cut(message) else { return nil }
    var buffer = ByteBufferAllocator().buffer(capacity: message.count + (pieces.count + 1) * headerBytesMax)
    if pieces.count > 1 { text(Array("\(pieces.count)".utf8), to: &buffer) }
    for piece in pieces { text(message[piece], to: &buffer) }
    return buffer
  }
}
