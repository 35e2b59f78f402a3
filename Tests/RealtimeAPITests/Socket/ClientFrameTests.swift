import HTTPServer
import NIOCore
import NIOEmbedded
import NIOWebSocket
import TestSupport
import Testing

@testable import RealtimeAPI

/// Frames of RFC 6455, legal and not.
struct ClientFrameTests {
  static let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

  /// A client's frame.
  static func frame(_ first: UInt8, _ payload: [UInt8], mask: [UInt8] = mask) -> [UInt8] {
    var bytes = [first]
    switch payload.count {
    case ..<126: bytes.append(0x80 | UInt8(payload.count))
    case ..<65536: bytes += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
  }

  static func text(_ text: String) -> [UInt8] { frame(0x81, Array(text.utf8)) }

  /// Puts the frames that the decoder gives together.
  final class Collector: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private var fragments = FragmentAssembler()
    var events: [FragmentAssembler.Event] = []
    /// As on a connection: behind a fault nothing more is read.
    private(set) var hasFailed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      do {
        if let event = try fragments.take(unwrapInboundIn(data)) { events.append(event) }
      } catch {
        hasFailed = true
        context.fireErrorCaught(error)
      }
    }
  }

  /// Reads everything, the bytes coming in pieces of a given size.
  @discardableResult
  static func read(
    _ bytes: [UInt8], max: Int = 1 << 20, pieces: Int = .max, into collector: Collector = Collector(),
    demand: @escaping () -> ClientFrameDecoder.Demand = { .open }
  ) throws -> [FragmentAssembler.Event] {
    let decoder = ClientFrameDecoder(messageBytesMax: max) { collector.hasFailed ? .ended : demand() }
    let channel = EmbeddedChannel(handlers: [ByteToMessageHandler(decoder), collector])
    defer { _ = try? channel.finish() }
    var rest = bytes[...]
    while !rest.isEmpty {
      try channel.writeInbound(ByteBuffer(bytes: rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return collector.events
  }

  @Test("The frame of the RFC's own example is read")
  func example() throws {
    let bytes: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
    #expect(try Self.read(bytes) == [.text(Array("Hello".utf8))])
  }

  @Test("Lengths in all three forms, whatever the pieces in which the bytes arrive", arguments: [1, 2, 3, 7, 1000, .max])
  func lengths(pieces: Int) throws {
    for length in [0, 1, 125, 126, 127, 65_535, 65_536, 70_000] {
      let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      guard length < 1000 || pieces > 3 else { continue }
      #expect(try Self.read(Self.frame(0x81, payload), pieces: pieces) == [.text(payload)], "\(length)")
    }
  }

  @Test("Fragments make one message, and control frames may stand between them")
  func fragments() throws {
    let bytes =
      Self.frame(0x01, Array("ab".utf8)) + Self.frame(0x89, [1, 2]) + Self.frame(0x00, []) + Self.frame(0x8A, [])
      + Self.frame(0x80, Array("cd".utf8)) + Self.text("e") + Self.frame(0x88, [0x03, 0xE8])
    #expect(
      try Self.read(bytes) == [.ping([1, 2]), .pong, .text(Array("abcd".utf8)), .text(Array("e".utf8)), .close(1000)])
  }

  struct BadFrame: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let code: WebSocketError.Code
    var testDescription: String { name }
  }

  static let badFrameRows: [BadFrame] = [
    BadFrame(name: "no mask", bytes: [0x81, 0x00], code: .protocolError),
    BadFrame(name: "reserved bit", bytes: frame(0xC1, []), code: .protocolError),
    BadFrame(name: "unknown data opcode", bytes: frame(0x83, []), code: .protocolError),
    BadFrame(name: "unknown control opcode", bytes: frame(0x8B, []), code: .protocolError),
    BadFrame(name: "binary", bytes: frame(0x82, [1]), code: .unsupportedData),
    BadFrame(name: "continuation of nothing", bytes: frame(0x80, []), code: .protocolError),
    BadFrame(name: "message inside a message", bytes: frame(0x01, []) + frame(0x81, []), code: .protocolError),
    BadFrame(name: "fragmented ping", bytes: frame(0x09, []), code: .protocolError),
    BadFrame(name: "long ping", bytes: frame(0x89, [UInt8](repeating: 0, count: 126)), code: .protocolError),
    BadFrame(name: "half a close code", bytes: frame(0x88, [3]), code: .protocolError),
    BadFrame(name: "16 bits for a short length", bytes: [0x81, 0xFE, 0, 5], code: .protocolError),
    BadFrame(name: "64 bits for a short length", bytes: [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], code: .protocolError),
    BadFrame(name: "negative length", bytes: [0x81, 0xFF] + [UInt8](repeating: 0xFF, count: 8), code: .protocolError),
    BadFrame(name: "announced too long", bytes: [0x81, 0xFF, 0, 0, 0, 0, 0x7F, 0, 0, 0], code: .messageTooBig),
    BadFrame(
      name: "too long in fragments", bytes: frame(0x01, [UInt8](repeating: 1, count: 600)) + [0x80, 0xFE, 0x02, 0x00],
      code: .messageTooBig),
  ]

  @Test("What is no client's frame is a fault, found before its payload arrives", arguments: badFrameRows)
  func frame(_ frame: BadFrame) throws {
    #expect(throws: WebSocketError.self) { try Self.read(frame.bytes, max: 1000) }
    do {
      _ = try Self.read(frame.bytes, max: 1000, pieces: 1)
    } catch let error as WebSocketError {
      #expect(error.code == frame.code)
    }
  }

  @Test("Frames wait as bytes while none is wanted, and are dropped when none ever will be")
  func demand() throws {
    var isOpen = true
    let collector = Collector()
    let decoder = ClientFrameDecoder(messageBytesMax: 1000) { isOpen ? .open : .paused }
    let channel = EmbeddedChannel(handlers: [ByteToMessageHandler(decoder), collector])
    isOpen = false
    try channel.writeInbound(ByteBuffer(bytes: Self.text("ab") + Self.text("c")))
    #expect(collector.events.isEmpty && decoder.heldBytes == 8 + 7)
    isOpen = true
    try channel.writeInbound(ByteBuffer())
    #expect(collector.events == [.text(Array("ab".utf8)), .text(Array("c".utf8))] && decoder.heldBytes == 0)
    _ = try channel.finish()
    #expect(try Self.read(Self.text("ab") + [0x81, 0x00], demand: { .ended }).isEmpty)
  }

  /// What the encoder makes of a frame.
  private static func encoded(_ frame: WebSocketFrame) throws -> [UInt8] {
    let channel = EmbeddedChannel(handler: WebSocketFrameEncoder())
    defer { _ = try? channel.finish() }
    try channel.writeOutbound(frame)
    var bytes: [UInt8] = []
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
    return bytes
  }

  @Test("A server's frames are the RFC's: shortest length, no mask, close reasons cut between characters")
  func writing() throws {
    #expect(try Self.encoded(.text(Array("Hello".utf8))) == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
    for (length, header) in [(125, [0x81, 125]), (126, [0x81, 126, 0, 126]), (65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])] {
      let bytes = try Self.encoded(.text([UInt8](repeating: 1, count: length)))
      #expect(bytes.prefix(header.count).map(Int.init) == header)
      #expect(bytes.count == header.count + length)
    }
    #expect(try Self.encoded(.close(1001, String(repeating: "é", count: 80))).count == 2 + 2 + 122)
  }

  @Test("A push is framed once as the encoder frames it", arguments: [0, 1, 125, 126, 16_384, 16_385, 70_000])
  func shared(length: Int) throws {
    let message = [UInt8](repeating: 97, count: length)
    let pieces = try #require(MessagePieces.cut(message))
    var expected = pieces.count > 1 ? try Self.encoded(.text("\(pieces.count)".utf8)) : []
    for piece in pieces { expected += try Self.encoded(.text(message[piece])) }
    #expect(SharedMessage(message).frames.map { Array($0.buffer.readableBytesView) } == expected)
  }
}
