import NIOCore
import NIOPosix
import NIOSSL
import TextFormats
import TreeModel

/// One authenticated connection to a mail server, for one mail after the other.
///
/// Every step waits for its answer, for a bounded time. A failure before the server has heard of a mail is always temporary: a
/// wrong password must not turn queued mails into dead letters.
final class SMTPConnection: Sendable {
  let channel: any Channel
  private let configuration: SMTPConfiguration
  private let replies: NIOLoopBound<SMTPReplyHandler>
  private let features: SMTPFeatures

  private init(
    _ channel: any Channel, _ configuration: SMTPConfiguration, _ replies: NIOLoopBound<SMTPReplyHandler>,
    features: SMTPFeatures
  ) {
    self.channel = channel
    self.configuration = configuration
    self.replies = replies
    self.features = features
  }

  /// Connects, makes the connection private, and signs in.
  static func open(_ configuration: SMTPConfiguration, tls: NIOSSLContext) async throws(MailError) -> SMTPConnection {
    let (channel, replies) = try await connect(configuration, tls: tls)
    do throws(MailError) {
      var connection = SMTPConnection(channel, configuration, replies, features: SMTPFeatures())
      let welcome = try await connection.reply()
      guard welcome.code == 220 else { throw connection.unready(welcome, did: "greeted with") }
      connection = try await connection.hello()
      if configuration.security == .startTLS { connection = try await connection.startTLS(tls) }
      if let login = configuration.login { try await connection.signIn(login) }
      return connection
    } catch {
      channel.close(promise: nil)
      throw error
    }
  }

  private static func connect(_ configuration: SMTPConfiguration, tls: NIOSSLContext) async throws(MailError)
    -> (any Channel, NIOLoopBound<SMTPReplyHandler>)
  {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(.milliseconds(configuration.connectMilliseconds))
    do {
      return try await bootstrap.connect(host: configuration.host, port: configuration.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          if configuration.security == .tls {
            try channel.pipeline.syncOperations.addHandler(Self.handler(tls, host: configuration.host))
          }
          let replies = SMTPReplyHandler()
          try channel.pipeline.syncOperations.addHandler(replies)
          return (channel, NIOLoopBound(replies, eventLoop: channel.eventLoop))
        }
      }
    } catch {
      throw MailError(.temporary, "The mail server \(configuration.host):\(configuration.port) cannot be reached: \(error)")
    }
  }

  /// A host that is an address is verified as one; only names are told to the server.
  private static func handler(_ tls: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
    do {
      return try NIOSSLClientHandler(context: tls, serverHostname: host)
    } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI {
      return try NIOSSLClientHandler(context: tls, serverHostname: nil)
    }
  }

  // MARK: Opening

  private func hello() async throws(MailError) -> SMTPConnection {
    let name = configuration.greeting ?? channel.localAddress?.ipAddress.map { $0.contains(":") ? "[IPv6:\($0)]" : "[\($0)]" }
    let answer = try await command("EHLO \(name ?? "localhost")")
    if answer.code == 250 {
      return SMTPConnection(channel, configuration, replies, features: SMTPFeatures(answer))
    }
    // A server from before the extensions (RFC 5321 §3.2).
    guard answer.code == 500 || answer.code == 502 else { throw unready(answer, did: "answered EHLO with") }
    let plain = try await command("HELO \(name ?? "localhost")")
    guard plain.code == 250 else { throw unready(plain, did: "answered HELO with") }
    return SMTPConnection(channel, configuration, replies, features: SMTPFeatures())
  }

  private func startTLS(_ tls: NIOSSLContext) async throws(MailError) -> SMTPConnection {
    guard features.startsTLS else {
      throw MailError(
        .temporary,
        "\(configuration.host) does not offer STARTTLS; set \"security\" to \"tls\", or, for a server on this machine, \"none\"."
      )
    }
    let answer = try await command("STARTTLS")
    guard answer.code == 220 else { throw unready(answer, did: "answered STARTTLS with") }
    let (host, bound) = (configuration.host, replies)
    try await failing { [channel] in
      try await channel.eventLoop.submit {
        // Plain text after the answer may have been injected on the network: it is not read as part of the TLS session.
        guard !bound.value.isAhead else { throw SMTPReplyHandler.ReplyError.unexpected }
        try channel.pipeline.syncOperations.addHandler(Self.handler(tls, host: host), position: .first)
      }.get()
    }
    return try await hello()
  }

  private func signIn(_ login: SMTPConfiguration.Login) async throws(MailError) {
    guard configuration.security != .none || SMTPConfiguration.isLoopback(configuration.host) else {
      throw MailError(.temporary, "A password is not sent to \(configuration.host) without TLS; set \"security\".")
    }
    let answer: SMTPReply
    if features.mechanisms.contains("PLAIN") {
      answer = try await command("AUTH PLAIN \(Self.base64("\0\(login.user)\0\(login.password)"))")
    } else if features.mechanisms.contains("LOGIN") {
      var step = try await command("AUTH LOGIN")
      if step.code == 334 { step = try await command(Self.base64(login.user)) }
      if step.code == 334 { step = try await command(Self.base64(login.password)) }
      answer = step
    } else {
      throw MailError(.temporary, "\(configuration.host) offers neither AUTH PLAIN nor AUTH LOGIN; remove user and password.")
    }
    guard answer.code == 235 else { throw unready(answer, did: "did not accept user and password:") }
  }

  private static func base64(_ text: String) -> String { Base64.encode(text.utf8, as: .standard) }

  // MARK: A mail

  /// Hands over one mail; returns when the server has taken it.
  func send(_ mail: EncodedMail) async throws(MailError) {
    if let most = features.sizeMax, mail.bytes.count > most {
      throw MailError(.permanent, "The mail has \(mail.bytes.count) bytes; \(configuration.host) takes at most \(most).")
    }
    try accepted(try await command("MAIL FROM:<\(mail.sender)>"), what: "the sender \(mail.sender)")
    try accepted(try await command("RCPT TO:<\(mail.recipient)>"), what: "the recipient \(mail.recipient)")
    let ready = try await command("DATA")
    guard ready.code == 354 else { throw mailError(ready, "the mail") }
    try accepted(try await exchange(Self.stuffed(mail.bytes)), what: "the mail")
  }

  /// Resets the connection after a refused mail, so that the next can be sent.
  func reset() async throws(MailError) {
    let answer = try await command("RSET")
    guard answer.code == 250 else { throw unready(answer, did: "answered RSET with") }
  }

  private func accepted(_ reply: SMTPReply, what: String) throws(MailError) {
    guard (200..<300).contains(reply.code) else { throw mailError(reply, what) }
  }

  /// 5xx is about the mail, and final; unless the server wants to know who this is, which no mail can change.
  private func mailError(_ reply: SMTPReply, _ what: String) -> MailError {
    let isFinal = (500..<600).contains(reply.code) && ![530, 534, 535, 538].contains(reply.code)
    return MailError(isFinal ? .permanent : .temporary, "\(configuration.host) refused \(what): \(reply.summary)")
  }

  private func unready(_ reply: SMTPReply, did: String) -> MailError {
    MailError(.temporary, "\(configuration.host) \(did) \(reply.summary)")
  }

  /// The mail's end is a line of one dot, so every other line that begins with a dot gets a second (RFC 5321 §4.5.2).
  static func stuffed(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 8)
    var isAtStart = true
    for byte in bytes {
      if isAtStart, byte == UInt8(ascii: ".") { result.append(byte) }
      result.append(byte)
      isAtStart = byte == 10
    }
    if !isAtStart { result += [13, 10] }
    return result + Array(".\r\n".utf8)
  }

  // MARK: One exchange

  private func command(_ line: String) async throws(MailError) -> SMTPReply {
    precondition(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "A command is one line of ASCII.")
    return try await exchange(Array("\(line)\r\n".utf8))
  }

  private func exchange(_ bytes: [UInt8]) async throws(MailError) -> SMTPReply {
    channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    return try await reply()
  }

  private func reply() async throws(MailError) -> SMTPReply {
    let timeout = TimeAmount.milliseconds(configuration.timeoutMilliseconds)
    return try await failing { [channel, replies] in
      try await channel.eventLoop.flatSubmit { replies.value.next(within: timeout, on: channel) }.get()
    }
  }

  private func failing<Result: Sendable>(_ body: () async throws -> Result) async throws(MailError) -> Result {
    do {
      return try await body()
    } catch {
      throw MailError(
        .temporary, "The connection to \(configuration.host):\(configuration.port) failed: \(Self.words(error))")
    }
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case SMTPReplyHandler.ReplyError.closed, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof:
      "the server hung up."
    case SMTPReplyHandler.ReplyError.timedOut: "the server did not answer in time."
    case SMTPReplyHandler.ReplyError.unexpected: "the server said more than it was asked."
    case SMTPReplyParser.ParseError.notAReply(let text): "\"\(text)\" is no answer of a mail server."
    case is SMTPReplyParser.ParseError: "its answer is too long."
    case let error as NIOSSLError:
      "TLS: \(error). Is the certificate for this name, and vouched for? (\"ca\" names who vouches.)"
    default: "\(error)"
    }
  }
}

/// The server's capabilities, from its answer to EHLO.
struct SMTPFeatures: Sendable, Hashable {
  private(set) var startsTLS = false
  /// In upper case.
  private(set) var mechanisms: Set<String> = []
  /// Bytes of the largest mail; nil if it does not say.
  private(set) var sizeMax: Int?

  init() {}

  init(_ reply: SMTPReply) {
    for line in reply.lines.dropFirst() {
      let words = line.uppercased().split { $0 == " " || $0 == "=" }.map(String.init)
      switch words.first {
      case "STARTTLS": startsTLS = true
      case "AUTH": mechanisms.formUnion(words.dropFirst())
      case "SIZE": sizeMax = words.dropFirst().first.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
      default: break
      }
    }
  }
}
