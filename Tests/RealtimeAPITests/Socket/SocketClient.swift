@testable import APISupport
import NIOCore
import NIOPosix
import ServerTestSupport
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// A WebSocket client that sends whatever frames a test wants and reads messages one by one.
struct SocketClient: Sendable {
  let channel: any Channel
  private let reading: NIOLoopBound<Collecting.Collector>

  enum Collecting {
    /// Collects what comes and gives it to who waits.
    final class Collector: ChannelDuplexHandler {
      typealias InboundIn = ByteBuffer
      typealias OutboundIn = Never

      private var bytes: [UInt8] = []
      private var hasUpgraded = false
      private(set) var answer = ""
      private var messages: [String] = []
      private var missing = 0
      private var pieces = ""
      private var waiters: [EventLoopPromise<String?>] = []
      private var isClosed = false
      /// Whether nothing is read any more once the handshake is answered.
      private let stopsReading: Bool
      private(set) var frames: [(opcode: UInt8, payload: [UInt8])] = []
      let upgraded: EventLoopPromise<String>

      init(_ upgraded: EventLoopPromise<String>, stopsReading: Bool) {
        self.upgraded = upgraded
        self.stopsReading = stopsReading
      }

      func read(context: ChannelHandlerContext) {
        if !(stopsReading && hasUpgraded) { context.read() }
      }

      func wait(_ promise: EventLoopPromise<String?>) {
        waiters.append(promise)
        serve()
      }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        if !hasUpgraded { upgrade() }
        if hasUpgraded { while takeFrame(context) {} }
        serve()
      }

      private func upgrade() {
        guard
          let end = bytes.count >= 4
            ? (0...(bytes.count - 4)).first(where: { bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }) : nil
        else { return }
        answer = String(decoding: bytes[..<end], as: UTF8.self)
        if answer.hasPrefix("HTTP/1.1 101") {
          bytes.removeFirst(end + 4)
          hasUpgraded = true
        } else {
          answer = String(decoding: bytes, as: UTF8.self)
        }
        upgraded.succeed(answer)
      }

      private func takeFrame(_ context: ChannelHandlerContext) -> Bool {
        guard bytes.count >= 2 else { return false }
        var length = Int(bytes[1])
        var start = 2
        if length == 126 {
          guard bytes.count >= 4 else { return false }
          length = Int(bytes[2]) << 8 | Int(bytes[3])
          start = 4
        } else if length == 127 {
          guard bytes.count >= 10 else { return false }
          length = bytes[2..<10].reduce(0) { $0 << 8 | Int($1) }
          start = 10
        }
        guard bytes.count >= start + length else { return false }
        let payload = Array(bytes[start..<start + length])
        let opcode = bytes[0] & 0x0F
        bytes.removeFirst(start + length)
        if opcode == 1 { take(String(decoding: payload, as: UTF8.self)) } else { frames.append((opcode, payload)) }
        if opcode == 9 {
          context.writeAndFlush(NIOAny(ByteBuffer(bytes: ClientFrameTests.frame(0x8A, payload))), promise: nil)
        }
        return true
      }

      private func take(_ frame: String) {
        if missing > 0 {
          pieces += frame
          missing -= 1
          if missing == 0 {
            messages.append(pieces)
            pieces = ""
          }
        } else if let count = Int(frame) {
          missing = count
        } else {
          messages.append(frame)
        }
      }

      func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        upgraded.succeed(answer)
        serve()
      }

      func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
      }

      func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

      private func serve() {
        while !waiters.isEmpty {
          if !messages.isEmpty {
            waiters.removeFirst().succeed(messages.removeFirst())
          } else if isClosed {
            waiters.removeFirst().succeed(nil)
          } else {
            return
          }
        }
      }
    }
  }

  static let handshake = [
    "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  ]

  /// Connects, and gives the server's answer to the handshake.
  static func open(
    to port: Int, _ path: String = "/.ws?v=5&ns=game", headers: [String: String] = handshake, host: String = "localhost:9000",
    behind bytes: [UInt8] = [], stopsReading: Bool = false
  ) async throws -> (client: SocketClient, answer: String) {
    let (client, answer) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let upgraded = channel.eventLoop.makePromise(of: String.self)
          let collector = Collecting.Collector(upgraded, stopsReading: stopsReading)
          try channel.pipeline.syncOperations.addHandler(collector)
          return (
            SocketClient(channel: channel, reading: NIOLoopBound(collector, eventLoop: channel.eventLoop)),
            upgraded.futureResult
          )
        }
      }
    let text = APIServer.text("GET", path, headers: headers, host: host)
    try await client.channel.writeAndFlush(ByteBuffer(bytes: Array(text.utf8) + bytes))
    return (client, try await answer.get())
  }

  /// Connects and reads the greeting.
  static func connect(to port: Int, _ path: String = "/.ws?v=5&ns=game") async throws -> (client: SocketClient, session: String)
  {
    let (client, answer) = try await open(to: port, path)
    #expect(answer.hasPrefix("HTTP/1.1 101"), "\(answer)")
    let hello = try #require(try await client.next())
    return (client, try #require(try JSONParser.parse(hello)["d"]?["d"]?["s"]?.string))
  }

  /// Sends one message as one frame.
  func send(_ text: String) async throws { try await write(ClientFrameTests.text(text)) }

  func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

  /// Sends without caring whether the server still listens.
  func sendLoosely(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Ends the sending half: nothing more comes.
  func finishSending() { channel.close(mode: .output, promise: nil) }

  /// A request, wrapped as clients wrap it.
  func request(_ body: String) async throws { try await send(#"{"t":"d","d":"# + body + "}") }

  /// The next message, whole; nil once the server has closed.
  func next() async throws -> String? {
    try await channel.eventLoop.flatSubmit { [reading, eventLoop = channel.eventLoop] in
      let promise = eventLoop.makePromise(of: String?.self)
      reading.value.wait(promise)
      return promise.futureResult
    }.get()
  }

  /// The content of the next data message.
  func answer() async throws -> String? {
    guard let message = try await next() else { return nil }
    guard message.hasPrefix(#"{"t":"d","d":"#) else { return message }
    return String(message.dropFirst(13).dropLast())
  }

  /// What came beside text: pings, closes.
  func controlFrames() async throws -> [(opcode: UInt8, payload: [UInt8])] {
    try await channel.eventLoop.submit { [reading] in reading.value.frames }.get()
  }

  /// Reads no more from the socket until the channel is read again.
  func pause() async throws { try await channel.setOption(.autoRead, value: false).get() }
  func resume() async throws { try await channel.setOption(.autoRead, value: true).get() }

  func close() async throws { try? await channel.close() }
}

/// A conversation with the server, as it stands on the wire.
///
/// `a> …` is what client `a` sends, `a< …` what it gets next, both without the envelope `{"t":"d","d":…}`; `a! …` sends a whole
/// message; `a.` ends its connection; `PUT /x.json 1` is said over HTTP. What a client gets must be exactly the lines, in
/// their order: nothing is skipped.
struct Transcript: Sendable, CustomTestStringConvertible {
  let name: String
  var lines: [String]
  var access = AccessPolicy.development

  init(_ name: String, access: AccessPolicy = .development, _ lines: String...) {
    self.name = name
    self.lines = lines
    self.access = access
  }

  var testDescription: String { name }

  func play() async throws {
    try await APIServer.run(access: access) { server in
      // In production nobody makes it by coming.
      _ = try await server.database.openNamespace(named: "game")
      var clients: [Character: SocketClient] = [:]
      for line in lines {
        guard let letter = line.first, letter.isLowercase else {
          let words = line.split(separator: " ", maxSplits: 2).map(String.init)
          let answer = try await server.send(words[0], words[1], words.count > 2 ? words[2] : nil, headers: APIServer.admin)
          #expect(answer.status == 200, "\(line): \(answer.body)")
          continue
        }
        if clients[letter] == nil { clients[letter] = try await SocketClient.connect(to: server.port).client }
        let client = try #require(clients[letter])
        let text = String(line.dropFirst(3))
        switch line.dropFirst().first {
        case ">": try await client.request(text)
        case "!": try await client.send(text)
        case ".":
          try await client.close()
          clients[letter] = nil
        default:
          let answer = try await client.answer()
          #expect(answer == text, "\(name)")
          // What comes behind a wrong answer says nothing.
          guard answer == text else { return }
        }
      }
      for client in clients.values { try await client.close() }
    }
  }
}
