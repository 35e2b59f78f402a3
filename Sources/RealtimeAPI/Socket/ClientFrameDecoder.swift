import NIOCore
import NIOWebSocket

/// NIOWebSocket's frame decoder, strict about what a client may send (RFC 6455 §5).
///
/// NIO's decoder leaves it to its user to check reserved bits, masking, the form of the length and the size of a fragmented
/// message. Here each header is checked before NIO sees it: a client that announces more than it may send is refused before
/// its payload is waited for, and costs nothing.
///
/// Decoding stops while the session takes no further requests. What has arrived stays bytes until then: a frame of one digit
/// takes ten times the memory that its bytes do.
final class ClientFrameDecoder: ByteToMessageDecoder {
  typealias InboundOut = WebSocketFrame

  /// Whether frames are wanted, not wanted yet, or never again.
  enum Demand {
    case open
    case paused
    case ended
  }

  private let messageBytesMax: Int
  private let demand: () -> Demand
  private let decoder: WebSocketFrameDecoder
  /// Whether the header of the frame that is being decoded was checked.
  private var isChecked = false
  /// Bytes of the fragmented message that has begun; nil outside of one.
  private var fragmentBytes: Int?
  /// Bytes that have arrived and are not decoded.
  private(set) var heldBytes = 0
  private(set) var isDecoding = false

  /// - Parameters:
  ///   - messageBytesMax: bytes that a message may have, in all its frames.
  ///   - demand: asked before each frame.
  init(messageBytesMax: Int, demand: @escaping () -> Demand) {
    self.messageBytesMax = messageBytesMax
    self.demand = demand
    decoder = WebSocketFrameDecoder(maxFrameSize: max(125, min(messageBytesMax, Int(UInt32.max))))
  }

  func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    isDecoding = true
    defer {
      isDecoding = false
      heldBytes = buffer.readableBytes
    }
    do {
      switch demand() {
      case .open: return try decodeFrame(context, buffer: &buffer)
      case .paused: return .needMoreData
      case .ended:
        buffer.moveReaderIndex(to: buffer.writerIndex)
        return .needMoreData
      }
    } catch {
      // After an error nothing more is decoded: the rest need not be kept until the connection has closed.
      buffer.moveReaderIndex(to: buffer.writerIndex)
      throw (error as? NIOWebSocketError).map(WebSocketError.init) ?? error
    }
  }

  private func decodeFrame(_ context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
    if !isChecked {
      guard let header = try FrameHeader(peekingAt: buffer) else { return .needMoreData }
      try check(header)
      isChecked = true
    }
    let state = try decoder.decode(context: context, buffer: &buffer)
    if state == .continue { isChecked = false }
    return state
  }

  /// A client that sends nothing more is not answered either: what is left of its bytes is dropped.
  func decodeLast(context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool) -> DecodingState {
    buffer.moveReaderIndex(to: buffer.writerIndex)
    heldBytes = 0
    return .needMoreData
  }

  /// Checks what NIO's decoder does not: it refuses control frames that are fragmented or too long by itself.
  private func check(_ header: FrameHeader) throws(WebSocketError) {
    switch header.opcode {
    case .continuation:
      guard fragmentBytes != nil else { throw WebSocketError(.protocolError, "A continuation without a beginning.") }
    case .text:
      guard fragmentBytes == nil else {
        throw WebSocketError(.protocolError, "A new message began before the last one ended.")
      }
    case .binary: throw WebSocketError(.unsupportedData, "Binary messages mean nothing here: send text.")
    case .ping, .pong, .connectionClose: return
    default: throw WebSocketError(.protocolError, "Unknown opcode \(UInt8(webSocketOpcode: header.opcode)).")
    }
    let before = fragmentBytes ?? 0
    guard header.length <= messageBytesMax - before else { throw .tooBig(messageBytesMax) }
    fragmentBytes = header.isFinal ? nil : before + header.length
  }
}

/// The header of a client's frame (RFC 6455 §5.2).
private struct FrameHeader {
  let opcode: WebSocketOpcode
  let isFinal: Bool
  /// Of the payload.
  let length: Int

  /// Reads the next header without consuming it; nil until it has arrived.
  init?(peekingAt buffer: ByteBuffer) throws(WebSocketError) {
    let start = buffer.readerIndex
    guard let first: UInt8 = buffer.getInteger(at: start), let second: UInt8 = buffer.getInteger(at: start + 1),
      let opcode = WebSocketOpcode(encodedWebSocketOpcode: first & 0x0F)
    else { return nil }
    guard first & 0x70 == 0 else { throw WebSocketError(.protocolError, "No extension was agreed on: reserved bits are 0.") }
    guard second & 0x80 != 0 else { throw WebSocketError(.protocolError, "A client must mask its frames.") }
    self.opcode = opcode
    isFinal = first & 0x80 != 0
    switch second & 0x7F {
    case 126:
      guard let long: UInt16 = buffer.getInteger(at: start + 2) else { return nil }
      guard long >= 126 else { throw Self.notShortest }
      length = Int(long)
    case 127:
      guard let long: UInt64 = buffer.getInteger(at: start + 2) else { return nil }
      guard long > 0xFFFF, long <= UInt64(Int64.max) else { throw Self.notShortest }
      length = Int(long)
    case let short: length = Int(short)
    }
  }

  private static let notShortest = WebSocketError(.protocolError, "The frame's length is not in its shortest form.")
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

  /// A message is longer than it may be.
  static func tooBig(_ bytesMax: Int) -> WebSocketError {
    WebSocketError(.messageTooBig, "A message may have \(bytesMax) bytes: write less at once.")
  }

  /// What NIO's decoder refuses: frames that are too long are refused before it sees them.
  init(_ error: NIOWebSocketError) {
    switch error {
    case .invalidFrameLength: self.init(.messageTooBig, "The frame is too long: write less at once.")
    case .fragmentedControlFrame, .multiByteControlFrameLength:
      self.init(.protocolError, "A control frame is whole and has at most 125 bytes.")
    }
  }
}
