import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

@testable import ClientRuntime

/// A server of the two transports' checks: it answers by the path, and repeats the texts of its sockets. It stands on NIO alone,
/// so that it runs wherever the library does.
///
/// - `/echo` answers 418 with the body, then the target, then the header `X-Sent`; `/silent` never, `/gone` hangs up.
/// - `/big` answers 100,000 bytes, `/moved` leads to `/echo`, `/events` sends two events and stays, `/words` is no stream.
/// - `/socket` opens a socket.
final class PlainServer: Sendable {
  private let channel: any Channel
  private let state = Locked<(targets: [String], connections: [any Channel])>(([], []))

  /// Where it listens.
  let port: Int
  /// What it was asked for.
  var targets: [String] { state.withLock { $0.targets } }

  private init(_ channel: any Channel) {
    self.channel = channel
    port = channel.localAddress?.port ?? 0
  }

  func address(host: String = "127.0.0.1", isSecure: Bool = false) -> ServiceAddress {
    ServiceAddress(host: host, port: port, isSecure: isSecure)
  }

  /// Ends all connections.
  func hangUp() { for channel in state.withLock({ $0.connections }) { channel.close(promise: nil) } }

  static func run(tls: NIOSSLContext? = nil, _ test: (PlainServer) async throws -> Void) async throws {
    let holder = Locked<PlainServer?>(nil)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          holder.copy?.state.withLock { $0.connections.append(channel) }
          if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
          try Self.addHandlers(to: channel) { target in holder.copy?.state.withLock { $0.targets.append(target) } }
        }
      }.bind(host: "127.0.0.1", port: 0).get()
    let server = PlainServer(channel)
    holder.withLock { $0 = server }
    defer {
      channel.close(promise: nil)
      server.hangUp()
      holder.withLock { $0 = nil }
    }
    try await test(server)
  }

  private static func addHandlers(to channel: any Channel, note: @escaping @Sendable (String) -> Void) throws {
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: 1 << 24,
      shouldUpgrade: { channel, head in
        note(head.uri)
        return channel.eventLoop.makeSucceededFuture(head.uri.hasPrefix("/socket") ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(SocketEcho())
        }
      })
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
      withServerUpgrade: (
        upgraders: [upgrader],
        completionHandler: { context in context.pipeline.removeHandler(name: Answers.name, promise: nil) }
      ))
    try channel.pipeline.syncOperations.addHandler(Answers(note: note), name: Answers.name)
  }

  /// Answers requests by their path.
  private final class Answers: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    static let name = "answers"

    private let note: @Sendable (String) -> Void
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(note: @escaping @Sendable (String) -> Void) { self.note = note }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): (self.head, body) = (head, [])
      case .body(let part): body.append(contentsOf: part.readableBytesView)
      case .end:
        guard let head else { return }
        note(head.uri)
        answer(head, context: context)
      }
    }

    private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
      let sent = head.headers.first(name: "x-sent") ?? ""
      switch head.uri.prefix(while: { $0 != "?" }) {
      case "/echo":
        send(418, ["X-A": "b"], body + Array("\(head.method) \(head.uri) \(sent)".utf8), context: context)
      case "/big": send(200, [:], Array(repeating: 65, count: 100_000), context: context)
      case "/moved": send(302, ["Location": "/echo"], [], context: context)
      case "/words": send(200, ["Content-Type": "text/plain"], Array("words".utf8), context: context)
      case "/silent": break
      case "/gone": context.close(promise: nil)
      case "/events":
        let fields: HTTPHeaders = ["Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"]
        context.write(
          wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: fields))), promise: nil)
        let text = "event: put\ndata: 1\n\n: nothing\n\ndata: 2\ndata: 3\n\n"
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
      default: send(404, [:], [], context: context)
      }
    }

    private func send(_ status: Int, _ headers: HTTPHeaders, _ body: [UInt8], context: ChannelHandlerContext) {
      var headers = headers
      headers.add(name: "Content-Length", value: String(body.count))
      let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }

  /// Repeats texts; `bye` closes in order, `drop` without a word.
  private final class SocketEcho: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let frame = unwrapInboundIn(data)
      let bytes = frame.unmaskedData
      switch frame.opcode {
      case .text where bytes.readableBytesView.elementsEqual("drop".utf8): context.close(promise: nil)
      case .text where bytes.readableBytesView.elementsEqual("bye".utf8):
        var code = context.channel.allocator.buffer(capacity: 2)
        code.write(webSocketErrorCode: .normalClosure)
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: code)), promise: nil)
      case .text: context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, data: bytes)), promise: nil)
      case .connectionClose:
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: bytes)), promise: nil)
        context.close(promise: nil)
      default: break
      }
    }
  }
}
