import NIOCore
import NIOWebSocket

/// The frames of a server: never masked, never fragmented (RFC 6455 §5).
extension WebSocketFrame {
  /// The longest header of a server's frame.
  static let headerBytesMax = 10

  /// A text frame with room in front of its payload, where the encoder puts the header instead of writing it apart.
  static func text(_ payload: some Collection<UInt8>) -> WebSocketFrame {
    var buffer = ByteBufferAllocator().buffer(capacity: headerBytesMax + payload.count)
    buffer.moveWriterIndex(to: headerBytesMax)
    buffer.moveReaderIndex(to: headerBytesMax)
    buffer.writeBytes(payload)
    return WebSocketFrame(fin: true, opcode: .text, data: buffer)
  }

  /// - `reason`: cut to what a control frame holds, between two characters.
  static func close(_ code: UInt16, _ reason: String) -> WebSocketFrame {
    var text = Array(reason.utf8.prefix(123))
    while String(validating: text, as: UTF8.self) == nil { text.removeLast() }
    var buffer = ByteBufferAllocator().buffer(capacity: 2 + text.count)
    buffer.writeInteger(code)
    buffer.writeBytes(text)
    return WebSocketFrame(fin: true, opcode: .connectionClose, data: buffer)
  }

  /// The payload without its mask, in one pass.
  fileprivate var unmaskedBytes: [UInt8] {
    guard let maskKey else { return Array(data.readableBytesView) }
    let mask = maskKey.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return data.withUnsafeReadableBytes { bytes in
      [UInt8](unsafeUninitializedCapacity: bytes.count) { target, count in
        for index in 0..<bytes.count {
          target[index] = bytes[index] ^ UInt8(truncatingIfNeeded: mask >> UInt32(24 - 8 * (index & 3)))
        }
        count = bytes.count
      }
    }
  }
}

/// Puts the fragments of a client's messages together (RFC 6455 §5.4). Control frames may come between them.
struct FragmentAssembler {
  enum Event: Equatable {
    /// A complete message. Whether it is UTF-8 is found out where it is parsed.
    case text([UInt8])
    case ping([UInt8])
    case pong
    /// The client ends the connection; nil if it gives no code.
    case close(UInt16?)
  }

  /// The message whose first fragments have come.
  private var fragments: [UInt8]?

  /// Bytes of a message that is not whole.
  var heldBytes: Int { fragments?.count ?? 0 }

  /// Takes a frame that ``ClientFrameDecoder`` let through.
  ///
  /// - Returns: nil until the message is whole.
  mutating func take(_ frame: WebSocketFrame) throws(WebSocketError) -> Event? {
    switch frame.opcode {
    case .ping: return .ping(frame.unmaskedBytes)
    case .pong: return .pong
    case .connectionClose:
      let payload = frame.unmaskedBytes
      guard payload.count != 1 else { throw WebSocketError(.protocolError, "A close code has two bytes.") }
      return .close(payload.isEmpty ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1]))
    default:
      guard fragments != nil || !frame.fin else { return .text(frame.unmaskedBytes) }
      var whole = fragments.take() ?? []
      whole += frame.unmaskedBytes
      if frame.fin { return .text(whole) }
      fragments = whole
      return nil
    }
  }
}

extension ByteBuffer {
  /// A server's message as the frames that ``WebSocketConnection`` would have the encoder write; nil if it needs more pieces
  /// than clients count.
  ///
  /// A push that goes to thousands of sockets is framed once, and by lines of our own: NIOWebSocket encodes frames only inside
  /// a channel's `WebSocketFrameEncoder`, which would write a header apart from the shared payload for each socket again.
  static func framed(_ message: [UInt8]) -> ByteBuffer? {
    guard let pieces = MessagePieces.cut(message) else { return nil }
    var buffer = ByteBufferAllocator().buffer(capacity: message.count + (pieces.count + 1) * WebSocketFrame.headerBytesMax)
    if pieces.count > 1 { buffer.writeTextFrame(Array("\(pieces.count)".utf8)[...]) }
    for piece in pieces { buffer.writeTextFrame(message[piece]) }
    return buffer
  }

  private mutating func writeTextFrame(_ payload: ArraySlice<UInt8>) {
    let final = UInt8(webSocketOpcode: .text) | 0x80
    switch payload.count {
    case ..<126: writeMultipleIntegers(final, UInt8(truncatingIfNeeded: payload.count))
    case ...0xFFFF: writeMultipleIntegers(final, UInt8(126), UInt16(truncatingIfNeeded: payload.count))
    default: writeMultipleIntegers(final, UInt8(127), UInt64(payload.count))
    }
    writeBytes(payload)
  }
}
