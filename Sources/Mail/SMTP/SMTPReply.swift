import NIOCore

/// What a mail server answers: a number, and text for people (RFC 5321 §4.2).
struct SMTPReply: Sendable, Hashable {
  let code: Int
  let lines: [String]

  /// The number and the text on one line; a server's text is not trusted to be printable.
  var summary: String {
    let text = lines.joined(separator: " ").withoutControls
    return "\(code) \(text.prefix(400))"
  }
}

/// Cuts a server's bytes into replies: lines of one number, of which the last has a blank behind it.
struct SMTPReplyParser {
  /// What no mail server says.
  enum ParseError: Error, Sendable, Hashable {
    case lineTooLong
    case tooManyLines
    case notAReply(String)
  }

  /// Bytes of one line; the standard has 512.
  static let lineBytesMax = 4096
  static let linesMax = 128

  private var line: [UInt8] = []
  private var code: Int?
  private var lines: [String] = []

  /// Whether something has begun that has not ended.
  var isInside: Bool { !line.isEmpty || code != nil }

  /// Consumes bytes, and returns the replies that are complete.
  mutating func take(_ bytes: some Sequence<UInt8>) throws(ParseError) -> [SMTPReply] {
    var replies: [SMTPReply] = []
    for byte in bytes {
      guard byte == 10 else {
        guard line.count < Self.lineBytesMax else { throw .lineTooLong }
        line.append(byte)
        continue
      }
      if line.last == 13 { line.removeLast() }
      if let reply = try end() { replies.append(reply) }
    }
    return replies
  }

  private mutating func end() throws(ParseError) -> SMTPReply? {
    defer { line = [] }
    let digits = line.prefix(3)
    let mark = line.count > 3 ? line[3] : UInt8(ascii: " ")
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }), let first = digits.first, (50...53).contains(first),
      mark == UInt8(ascii: " ") || mark == UInt8(ascii: "-")
    else {
      throw .notAReply(String(decoding: line.prefix(80), as: UTF8.self).withoutControls)
    }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    guard code == nil || code == number else { throw .notAReply("\(number) in a reply \(code ?? 0)") }
    guard lines.count < Self.linesMax else { throw .tooManyLines }
    lines.append(String(decoding: line.dropFirst(4), as: UTF8.self))
    guard mark == UInt8(ascii: " ") else {
      code = number
      return nil
    }
    defer { (code, lines) = (nil, []) }
    return SMTPReply(code: number, lines: lines)
  }
}

/// Stands at the end of the channel and hands each reply to who waits for it.
///
/// One waits at a time. A reply that nobody waits for is kept if it is the only one, such as the greeting, or the word of a
/// server that is about to hang up; more are an error.
final class SMTPReplyHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// Why there is no reply.
  enum ReplyError: Error {
    case closed
    case timedOut
    case unexpected
  }

  private var parser = SMTPReplyParser()
  private var early: SMTPReply?
  private var waiting: EventLoopPromise<SMTPReply>?
  private var timer: Scheduled<Void>?
  private var failure: (any Error)?

  /// The next reply, on the channel's loop.
  func next(within timeout: TimeAmount, on channel: any Channel) -> EventLoopFuture<SMTPReply> {
    let promise = channel.eventLoop.makePromise(of: SMTPReply.self)
    if let failure {
      promise.fail(failure)
    } else if let reply = early {
      early = nil
      promise.succeed(reply)
    } else {
      waiting = promise
      let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
      timer = channel.eventLoop.scheduleTask(in: timeout) {
        bound.value.fail(ReplyError.timedOut)
        channel.close(promise: nil)
      }
    }
    return promise.futureResult
  }

  /// Whether the server said something that nobody has asked for yet: what comes before TLS is not trusted behind it.
  var isAhead: Bool { early != nil || parser.isInside }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    do {
      for reply in try parser.take(unwrapInboundIn(data).readableBytesView) {
        if let promise = waiting {
          waiting = nil
          timer?.cancel()
          promise.succeed(reply)
        } else {
          guard early == nil else { throw ReplyError.unexpected }
          early = reply
        }
      }
    } catch {
      fail(error)
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(ReplyError.closed)
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(error)
    context.close(promise: nil)
  }

  private func fail(_ error: any Error) {
    if failure == nil { failure = error }
    timer?.cancel()
    let promise = waiting
    waiting = nil
    promise?.fail(error)
  }
}
