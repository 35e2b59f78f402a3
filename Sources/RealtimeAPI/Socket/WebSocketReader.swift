import NIOCore

/// Cuts a client's bytes into frames and puts fragmented messages together (RFC 6455 §5).
///
/// Pure: bytes go in, events come out, and what cannot be a client's frame is a ``WebSocketFault``. A frame's length is judged
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
  mutating func next() throws(WebSocketFault) -> Event? {
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
  private func readHeader() throws(WebSocketFault) -> Header? {
    let start = buffer.readerIndex
    guard let first: UInt8 = buffer.getInteger(at: start), let second: UInt8 = buffer.getInteger(at: start + 1) else {
      return nil
    }
    guard first & 0x70 == 0 else { throw WebSocketFault(.protocolError, "No extension was agreed on: reserved bits are 0.") }
    guard second & 0x80 != 0 else { throw WebSocketFault(.protocolError, "A client must mask its frames.") }
    let opcode = first & 0x0F
    let isFinal = first & 0x80 != 0
    var length = Int(second & 0x7F)
    var size = 2
    if length == 126 {
      guard let long: UInt16 = buffer.getInteger(at: start + 2) else { return nil }
      guard long >= 126 else { throw WebSocketFault(.protocolError, "The frame's length is not in its shortest form.") }
      length = Int(long)
      size = 4
    } else if length == 127 {
      guard let long: UInt64 = buffer.getInteger(at: start + 2) else { return nil }
      guard long > 0xFFFF, long <= UInt64(Int64.max) else {
        throw WebSocketFault(.protocolError, "The frame's length is not in its shortest form.")
      }
      length = Int(long)
      size = 10
    }
    try judge(opcode: opcode, isFinal: isFinal, length: length)
    guard let mask: UInt32 = buffer.getInteger(at: start + size) else { return nil }
    return Header(opcode: opcode, isFinal: isFinal, length: length, size: size + 4, mask: mask)
  }

  private func judge(opcode: UInt8, isFinal: Bool, length: Int) throws(WebSocketFault) {
    switch opcode {
    case 0:
      guard fragments != nil else { throw WebSocketFault(.protocolError, "A continuation without a beginning.") }
    case 1:
      guard fragments == nil else {
        throw WebSocketFault(.protocolError, "A new message began before the last one ended.")
      }
    case 2: throw WebSocketFault(.unsupportedData, "Binary messages mean nothing here: send text.")
    case 8, 9, 10:
      guard isFinal, length <= 125 else {
        throw WebSocketFault(.protocolError, "A control frame is whole and has at most 125 bytes.")
      }
      return
    default: throw WebSocketFault(.protocolError, "Unknown opcode \(opcode).")
    }
    guard length <= messageBytesMax - (fragments?.count ?? 0) else {
      throw WebSocketFault(.messageTooBig, "A message may have \(messageBytesMax) bytes: write less at once.")
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

  private mutating func event(_ header: Header, _ payload: [UInt8]) throws(WebSocketFault) -> Event? {
    switch header.opcode {
    case 8:
      guard payload.count != 1 else { throw WebSocketFault(.protocolError, "A close code has two bytes.") }
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
