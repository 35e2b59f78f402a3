import NIOCore
import NIOEmbedded
import NIOHTTP1
import StorageCore
import Synchronization

@testable import HTTPServer

/// One connection of the server without a network, and what comes of the bytes that it is given.
final class EmbeddedServer {
  /// What a connection did; two that were given the same must have done the same.
  struct Outcome: Equatable {
    /// The requests as the responder got them.
    let requests: [String]
    let output: String
    let isOpen: Bool
  }

  private let channel = EmbeddedChannel()
  private let recorder: Recorder
  let connection: HTTPConnection
  private let parts = PartCount()

  /// - `hasReader`: whether common requests are read by hand, as in the server; false for NIO's decoder alone.
  /// - `answersLater`: whether requests wait for ``answer()``.
  init(hasReader: Bool, answersLater: Bool = false, headerBytesMax: Int = 32 << 10) throws {
    var configuration = HTTPServerConfiguration()
    configuration.headerBytesMax = headerBytesMax
    recorder = Recorder(answersLater: answersLater)
    connection = HTTPConnection(
      configuration: configuration, responder: recorder, metrics: HTTPMetrics(), clock: AdjustableClock(frozenAt: 0),
      memory: MemoryBudgets(), registry: ConnectionRegistry(connectionsMax: 1))
    let pipeline = channel.pipeline.syncOperations
    if hasReader { try pipeline.addHandler(RequestReader(connection: connection)) }
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = headerBytesMax
    limits.maxHeaderListSize = headerBytesMax
    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits)
    try pipeline.addHandlers(ByteToMessageHandler(decoder), parts, connection)
    channel.pipeline.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
  }

  /// Requests that came through NIO's decoder, as far as their heads.
  var decodedCount: Int { parts.heads }

  /// Bytes arrive, as one read.
  func take(_ bytes: some Sequence<UInt8>) throws {
    let buffer = ByteBuffer(bytes: bytes)
    if channel.isActive, buffer.readableBytes > 0 { try channel.writeInbound(buffer) }
  }

  /// Answers the request that waits, if one does.
  func answer() { recorder.answer() }

  /// The client sends nothing more; everything is answered.
  func finish() throws -> Outcome {
    recorder.answerAll()
    if channel.isActive { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    recorder.answerAll()
    var output = ""
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) { output += String(buffer: bytes) }
    let outcome = Outcome(requests: recorder.requests, output: output, isOpen: channel.isActive)
    _ = try? channel.finish(acceptAlreadyClosed: true)
    return outcome
  }

  /// What comes of bytes that arrive cut at these places.
  static func outcome(
    of bytes: [UInt8], cuts: [Int], hasReader: Bool, answersLater: Bool = false, headerBytesMax: Int = 32 << 10
  ) throws -> Outcome {
    let server = try EmbeddedServer(hasReader: hasReader, answersLater: answersLater, headerBytesMax: headerBytesMax)
    var start = 0
    for (index, end) in (cuts + [bytes.count]).enumerated() {
      try server.take(bytes[start..<end])
      if index % 3 == 1 { server.answer() }
      start = end
    }
    return try server.finish()
  }
}

/// Answers every request with its number.
private final class Recorder: RequestResponder {
  private struct State {
    var requests: [String] = []
    var waiting: [ResponseSink] = []
  }

  private let answersLater: Bool
  private let state = Mutex(State())

  init(answersLater: Bool) { self.answersLater = answersLater }

  var requests: [String] { state.withLock { $0.requests } }

  func respond(to request: HTTPRequest, sink: ResponseSink) {
    let body = request.body.map { "\(Array($0.readableBytesView))" } ?? "none"
    state.withLock {
      $0.requests.append(
        "\(request.method) \(request.isHead) \(request.uri) \(request.headers.map { [$0.name, $0.value] }) \(body)")
      $0.waiting.append(sink)
    }
    if !answersLater { answer() }
  }

  func answer() {
    let next = state.withLock { state in state.waiting.isEmpty ? nil : (state.waiting.removeFirst(), state.requests.count) }
    if let (sink, number) = next { sink.send(HTTPResponse(.ok, content: .text, body: Array("\(number)".utf8))) }
  }

  func answerAll() {
    while state.withLock({ !$0.waiting.isEmpty }) { answer() }
  }

  var openBytesMax: Int { 64 << 10 }
  func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { nil }
  func standing(of head: HTTPRequestHead) -> ClientStanding { .unauthenticated }
}

/// Counts what NIO's decoder delivers.
private final class PartCount: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private(set) var heads = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head = unwrapInboundIn(data) { heads += 1 }
    context.fireChannelRead(data)
  }
}
