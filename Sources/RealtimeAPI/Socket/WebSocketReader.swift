import NIOCore

/// Cuts a client's bytes into frames and puts fragmented messages together (RFC 6455 §5).
///
/// Pure: bytes go in, events come out, and what cannot be a client's frame is a ``WebSocketError``. A frame's length is judged
/// before its payload is waited for, so a client that announces more than it may send costs nothing.
struct WebSocketReader {
  enum Event: Equatable {
    /// A complete message. Whether it is UTF-8 is found out by whoever parses it.
    case text([UInt8])
    case ping([UInt8])
    case pong
    /// The client ends the connection; nil if it gives no code.
    case close(UInt16?)
  }

  private let messageBytesMax: Int
  private var buffer = ByteBuffer()
  /// The message whose first fragments have come.
  private var fragments: [UInt8]?

  init(messageBytesMax: Int) {
    self.messageBytesMax = messageBytesMax
  }

  /// Bytes of frames and messages that are not whole.
  var heldBytes: Int { buffer.readableBytes + (fragments?.count ?? 0) }

  /// Takes what arrived.
  mutating func append(_ bytes: ByteBuffer) {
    if buffer.readableBytes == 0 {
      buffer = bytes
    } else {
      buffer.writeImmutableBuffer(bytes)
    }
  }

  /// The next event; nil until more bytes arrive.
  mutating func next() throws(WebSocketError) -> Event? {
    while let header = try readHeader() {
      guard let payload = readPayload(header) else { return nil }
      if let event = try event(header, payload) { return event }
    }
    return nil
  }

  private struct Header {
    let opcode: UInt8
    let isFinal: Bool
    /// Of the payload.
    let length: Int
    /// Of the header itself, mask included.
    let size: Int
    let mask: UInt32

    var isControl: Bool { opcode >= 8 }
  }

  /// Looks at the next frame's header without taking it.
  private func readHeader() throws(WebSocketError) -> Header? {
    let start = buffer.readerIndex
    guard let first: UInt8 = buffer.getInteger(at: start), let second: UInt8 = buffer.getInteger(at: start + 1) else {
      return nil
    }
    guard first & 0x70 == 0 else { throw WebSocketError(.protocolError, "No extension was agreed on: reserved bits are 0.") }
    guard second & 0x80 != 0 else { throw WebSocketError(.protocolError, "A client must mask its frames.") }
    let opcode = first & 0x0F
    let isFinal = first & 0x80 != 0
    var length = Int(second & 0x7F)
    var size = 2
    if length == 126 {
      guard let long: UInt16 = buffer.getInteger(at: start + 2) else { return nil }
      guard long >= 126 else { throw WebSocketError(.protocolError, "The frame's length is not in its shortest form.") }
      length = Int(long)
      size = 4
    } else if length == 127 {
      guard let long: UInt64 = buffer.getInteger(at: start + 2) else { return nil }
      guard long > 0xFFFF, long <= UInt64(Int64.max) else {
        throw WebSocketError(.protocolError, "The frame's length is not in its shortest form.")
      }
      length = Int(long)
      size = 10
    }
    try judge(opcode: opcode, isFinal: isFinal, length: length)
    guard let mask: UInt32 = buffer.getInteger(at: start + size) else { return nil }
    return Header(opcode: opcode, isFinal: isFinal, length: length, size: size + 4, mask: mask)
  }

  private func judge(opcode: UInt8, isFinal: Bool, length: Int) throws(WebSocketError) {
    switch opcode {
    case 0:
      guard fragments != nil else { throw WebSocketError(.protocolError, "A continuation without a beginning.") }
    case 1:
      guard fragments == nil else {
        throw WebSocketError(.protocolError, "A new message began before the last one ended.")
      }
    case 2: throw WebSocketError(.unsupportedData, "Binary messages mean nothing here: send text.")
    case 8, 9, 10:
      guard isFinal, length <= 125 else {
        throw WebSocketError(.protocolError, "A control frame is whole and has at most 125 bytes.")
      }
      return
    default: throw WebSocketError(.protocolError, "Unknown opcode \(opcode).")
    }
    guard length <= messageBytesMax - (fragments?.count ?? 0) else {
      throw WebSocketError(.messageTooBig, "A message may have \(messageBytesMax) bytes: write less at once.")
    }
  }

  /// Takes the frame once it is complete, and unmasks it.
  private mutating func readPayload(_ header: Header) -> [UInt8]? {
    guard buffer.readableBytes >= header.size + header.length else { return nil }
    buffer.moveReaderIndex(forwardBy: header.size)
    let mask = header.mask
    let payload = buffer.withUnsafeReadableBytes { bytes in
      [UInt8](unsafeUninitializedCapacity: header.length) { target, count in
        for index in 0..<header.length {
          target[index] = bytes[index] ^ UInt8(truncatingIfNeeded: mask >> UInt32(24 - 8 * (index & 3)))
        }
        count = header.length
      }
    }
    buffer.moveReaderIndex(forwardBy: header.length)
    // What was read is given back when nothing is left; a buffer that never empties shrinks when half of it is read.
    if buffer.readableBytes == 0 {
      buffer = ByteBuffer()
    } else if buffer.readerIndex > buffer.readableBytes, buffer.readerIndex > 4096 {
      buffer.discardReadBytes()
    }
    return payload
  }

  private mutating func event(_ header: Header, _ payload: [UInt8]) throws(WebSocketError) -> Event? {
    switch header.opcode {
    case 8:
      guard payload.count != 1 else { throw WebSocketError(.protocolError, "A close code has two bytes.") }
      return .close(payload.count < 2 ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1]))
    case 9: return .ping(payload)
    case 10: return .pong
    default:
      guard header.isFinal, fragments == nil else {
        var whole = fragments.take() ?? []
        whole += payload
        guard header.isFinal else {
          fragments = whole
          return nil
        }
        return .text(whole)
      }
      return .text(payload)
    }
  }
}

/// Why a socket must be closed by the server, with the code that tells the client (RFC 6455 §7.4.1).
struct WebSocketError: Error, Hashable {
  enum Code: UInt16 {
    /// The server stops, or the session was taken over.
    case goingAway = 1001
    /// The bytes are no WebSocket frames of a client.
    case protocolError = 1002
    /// Binary data: this protocol is text.
    case unsupportedData = 1003
    /// The text is not what the protocol says.
    case policyViolation = 1008
    case messageTooBig = 1009
    /// The client reads more slowly than the server writes.
    case tryAgainLater = 1013
  }

  let code: Code
  /// For people: what was wrong and what to do. At most 123 bytes reach the client.
  let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// Writes a server's frames (RFC 6455 §5.2): never masked, never fragmented.
enum WebSocketFrames {
  /// The longest header of a server's frame.
  static let headerBytesMax = 10

  static func text(_ payload: some Collection<UInt8>, to buffer: inout ByteBuffer) {
    header(0x81, payload.count, to: &buffer)
    buffer.writeBytes(payload)
  }

  static func ping(to buffer: inout ByteBuffer) { header(0x89, 0, to: &buffer) }

  /// - `payload`: what the client's ping carried, at most 125 bytes.
  static func pong(_ payload: [UInt8], to buffer: inout ByteBuffer) {
    header(0x8A, payload.count, to: &buffer)
    buffer.writeBytes(payload)
  }

  /// - `reason`: cut to what a control frame holds.
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
