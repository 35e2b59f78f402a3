import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// A mail server on a free port that does what a test says, and remembers what it was told.
final class MailServer: Sendable {
  /// How it behaves.
  struct Script: Sendable {
    var greeting = "220 mx.test ready\r\n"
    /// The lines of the answer to EHLO.
    var features = ["mx.test", "8BITMIME"]
    /// `nil` for the usual answer, empty for none, `"hang up"` to close.
    var answer: @Sendable (_ line: String, _ connection: Int) -> String? = { _, _ in nil }
    /// Whether TLS is spoken from the first byte.
    var isImplicit = false
    /// Sent in the clear together with the answer to STARTTLS.
    var smuggled = ""
  }

  struct Log: Sendable {
    var connections = 0
    /// With the number of the connection in front: `1 MAIL FROM:<a@b>`.
    var commands: [String] = []
    var mails: [String] = []
    /// Whether each mail came over TLS.
    var wasPrivate: [Bool] = []
  }

  private let channel: any Channel
  private let log: LogBox

  var seen: Log { log.value.withLock { $0 } }
  var port: Int { channel.localAddress?.port ?? 0 }

  private final class LogBox: Sendable {
    let value = Mutex(Log())
  }

  private init(_ channel: any Channel, _ log: LogBox) {
    self.channel = channel
    self.log = log
  }

  static func run<Result>(_ script: Script = Script(), _ test: (MailServer) async throws -> Result) async throws -> Result {
    let log = LogBox()
    let tls = try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.local.utf8)).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificates.localKey.utf8), format: .pem))))
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let number = log.value.withLock { log in
            log.connections += 1
            return log.connections
          }
          if script.isImplicit { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
          try channel.pipeline.syncOperations.addHandler(Connection(script, tls, log, number))
        }
      }.bind(host: "127.0.0.1", port: 0).get()
    defer { channel.close(promise: nil) }
    return try await test(MailServer(channel, log))
  }

  private final class Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: Script
    private let tls: NIOSSLContext
    private let log: LogBox
    private let number: Int
    private var bytes: [UInt8] = []
    private var mail: String?
    private var isPrivate: Bool
    /// Lines of AUTH LOGIN that are still to come.
    private var credentials = 0

    init(_ script: Script, _ tls: NIOSSLContext, _ log: LogBox, _ number: Int) {
      (self.script, self.tls, self.log, self.number) = (script, tls, log, number)
      isPrivate = script.isImplicit
    }

    func channelActive(context: ChannelHandlerContext) { say(script.greeting, context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      bytes += unwrapInboundIn(data).readableBytesView
      while let end = bytes.firstIndex(of: 10) {
        let line = String(decoding: bytes[..<end].filter { $0 != 13 }, as: UTF8.self)
        bytes.removeFirst(end + 1)
        take(line, context)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func take(_ line: String, _ context: ChannelHandlerContext) {
      if let so = mail {
        guard line == "." else {
          mail = so + (line.hasPrefix("..") ? String(line.dropFirst()) : line) + "\n"
          return
        }
        mail = nil
        let isPrivate = isPrivate
        log.value.withLock { log in
          log.mails.append(so)
          log.wasPrivate.append(isPrivate)
        }
        return say(script.answer(".", number) ?? "250 taken\r\n", context)
      }
      log.value.withLock { $0.commands.append("\(number) \(line)") }
      if let answer = script.answer(line, number) { return say(answer, context) }
      if credentials > 0 {
        credentials -= 1
        return say(credentials > 0 ? "334 UGFzc3dvcmQ6\r\n" : "235 welcome\r\n", context)
      }
      switch line.prefix(4) {
      case "EHLO":
        let lines = script.features
        say(lines.enumerated().map { "250\($0 + 1 == lines.count ? " " : "-")\($1)\r\n" }.joined(), context)
      case "STAR":
        say("220 go ahead\r\n" + script.smuggled, context)
        isPrivate = true
        try? context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls), position: .first)
      case "AUTH":
        if line == "AUTH LOGIN" {
          credentials = 2
          say("334 VXNlcm5hbWU6\r\n", context)
        } else {
          say("235 welcome\r\n", context)
        }
      case "DATA":
        mail = ""
        say("354 go on\r\n", context)
      default: say("250 fine\r\n", context)
      }
    }

    private func say(_ text: String, _ context: ChannelHandlerContext) {
      if text == "hang up" { return context.close(promise: nil) }
      if !text.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil) }
    }
  }
}
