import NIOCore
package import NIOHTTP1
import NIOPosix
package import NIOSSL
import Synchronization
package import TreeModel

/// A server on a free port that answers as a test says, and remembers what it was asked.
package final class TinyServer: Sendable {
  package struct Request: Sendable {
    package let method: HTTPMethod
    package let uri: String
    package let headers: HTTPHeaders
    package let body: [UInt8]

    package var json: JSON { (try? JSONParser.parse(body)) ?? .null }
    package var path: String { String(uri.prefix { $0 != "?" }) }
  }

  package struct Answer: Sendable {
    package var status = 200
    package var body: [UInt8] = []
    /// Closes the connection instead of answering.
    package var hangsUp = false
    /// Never answers.
    package var isSilent = false
    package var headers: HTTPHeaders = [:]

    package init(
      status: Int = 200, body: [UInt8] = [], hangsUp: Bool = false, isSilent: Bool = false, headers: HTTPHeaders = [:]
    ) {
      self.status = status
      self.body = body
      self.hangsUp = hangsUp
      self.isSilent = isSilent
      self.headers = headers
    }

    package static func json(_ json: JSON, status: Int = 200) -> Answer {
      var writer = JSONWriter()
      writer.write(json)
      return Answer(status: status, body: writer.bytes)
    }
  }

  private let channel: any Channel
  private let log = Mutex<(requests: [Request], connections: Int)>(([], 0))

  /// Where it listens.
  package let address: String

  /// What was asked so far.
  package var requests: [Request] { log.withLock { $0.requests } }
  package var connectionCount: Int { log.withLock { $0.connections } }

  private init(_ channel: any Channel) {
    self.channel = channel
    address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  /// Runs a test against a server of its own.
  package static func run<Result>(
    tls: NIOSSLContext? = nil, _ answer: @escaping @Sendable (Request) -> Answer, _ test: (TinyServer) async throws -> Result
  ) async throws -> Result {
    let holder = Holder()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          holder.server?.log.withLock { $0.connections += 1 }
          if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(
            Connection { request in
              holder.server?.log.withLock { $0.requests.append(request) }
              return answer(request)
            })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let server = TinyServer(channel)
    holder.set(server)
    defer { channel.close(promise: nil) }
    return try await test(server)
  }

  private final class Holder: Sendable {
    private let value = Mutex<TinyServer?>(nil)
    var server: TinyServer? { value.withLock { $0 } }
    func set(_ server: TinyServer) { value.withLock { $0 = server } }
  }

  private final class Connection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (Request) -> Answer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ answer: @escaping @Sendable (Request) -> Answer) {
      self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        self.head = head
        body = []
      case .body(let part): body.append(contentsOf: part.readableBytesView)
      case .end:
        guard let head else { return }
        let answer = answer(Request(method: head.method, uri: head.uri, headers: head.headers, body: body))
        if answer.isSilent { return }
        if answer.hangsUp { return context.close(promise: nil) }
        var headers = answer.headers
        headers.add(name: "Content-Length", value: String(answer.body.count))
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(
          wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }
  }
}
