import NIOCore
import NIOHTTP1

/// Decides for each request who reads it: ``CommonRequest``, or NIO's decoder, which knows all of HTTP and is next in the
/// pipeline.
///
/// A common request that arrived whole goes straight to the connection. Everything else (and so every request that comes in
/// pieces, that is too large, or that nobody should send) goes through the decoder byte by byte, whose limits and errors are the
/// server's. Nothing is kept here, so a slow client costs what it costs in the decoder.
///
/// When the decoder has read its request to the end, the next one is looked at here again: a browser that asks for a preflight
/// first, or that sends a body after its head, keeps the quick way for the rest. For that the end must be known exactly, for
/// the decoder swallows whatever it is given. So it gets its input in pieces that end where a request can end: behind the blank
/// line below a head, and with the last byte of an announced body.
final class RequestReader: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum Route {
    /// Between two requests: the next is looked at.
    case open
    /// The decoder has a request.
    case decoder
    /// The decoder has all that is to come: it takes no further request, or the connection has become something else.
    case decoderForGood
  }

  private let connection: HTTPConnection
  private let limits: CommonRequest.Limits
  private var route = Route.open
  /// How much of a blank line (CR LF CR LF) the decoder has got last.
  private var blankBytes = 0
  /// Bytes that the decoder has of a head that has not come to its end.
  private var headBytes = 0

  /// - `connection`: behind the decoder in the same pipeline.
  init(connection: HTTPConnection) {
    self.connection = connection
    let configuration = connection.configuration
    limits = CommonRequest.Limits(
      headBytesMax: configuration.headerBytesMax,
      bodyBytesMax: min(configuration.bodyBytesMax, connection.responder.openBytesMax))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    while buffer.readableBytes > 0 {
      if case .open = route {
        if connection.isInPlace, let request = readCommon(&buffer) {
          connection.receive(request)
          continue
        }
        connection.decoding.request = nil
        (blankBytes, headBytes) = (0, 0)
        route = .decoder
      }
      let (count, endsRequest) = nextPiece(of: buffer)
      guard let piece = buffer.readSlice(length: count) else { return }
      context.fireChannelRead(wrapInboundOut(piece))
      headBytes = connection.decoding.request == nil ? headBytes + count : 0
      if connection.decoding.hasFailed {
        // Behind an error the decoder throws away what came with it; what comes later it complains of, as it should.
        route = .decoderForGood
        return
      }
      if endsRequest, let decoded = connection.decoding.request, decoded.isComplete {
        route = decoded.isLast ? .decoderForGood : .open
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if headBytes >= ByteShare.step { connection.holdHead(headBytes) }
    context.fireChannelReadComplete()
  }

  /// The decoder leaves the pipeline later than it is asked to, and until then it is the one to keep what comes.
  func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
    route = .decoderForGood
    context.eventLoop.assumeIsolated().execute { context.leavePipeline(removalToken: removalToken) }
  }

  /// Takes a common request off the buffer; nil if there is none, or not all of it.
  private func readCommon(_ buffer: inout ByteBuffer) -> HTTPRequest? {
    let found = buffer.withUnsafeReadableBytes { bytes -> (CommonRequest, RequestHead)? in
      guard let request = CommonRequest(bytes, limits: limits) else { return nil }
      let lines = UnsafeRawBufferPointer(rebasing: bytes[request.target.lowerBound..<request.headBytes - 2])
      return (request, RequestHead(lines: lines, targetBytes: request.target.count))
    }
    guard let (request, head) = found else { return nil }
    buffer.moveReaderIndex(forwardBy: request.headBytes)
    var whole = HTTPRequest(
      method: request.method, head: head, body: request.bodyBytes > 0 ? buffer.readSlice(length: request.bodyBytes) : nil)
    whole.id.mayBeNamed = request.isNamed
    return whole
  }

  /// How much of the buffer goes to the decoder at once, and whether the decoder's request can end with it.
  private func nextPiece(of buffer: ByteBuffer) -> (count: Int, endsRequest: Bool) {
    if case .decoderForGood = route { return (buffer.readableBytes, false) }
    let decoded = connection.decoding.request.flatMap { $0.isComplete ? nil : $0 }
    if let left = decoded?.bodyLeft, left > 0 { return (min(left, buffer.readableBytes), left <= buffer.readableBytes) }
    // A body in chunks is not cut: it ends with a blank line, and what ends so with a complete request is at a request's end.
    let stopsAtBlankLine = decoded == nil
    return buffer.withUnsafeReadableBytes { bytes in
      var endsBlank = false
      for (index, byte) in bytes.enumerated() {
        endsBlank = false
        switch (byte, blankBytes) {
        case (UInt8(ascii: "\n"), 1), (UInt8(ascii: "\r"), 2): blankBytes += 1
        case (UInt8(ascii: "\n"), 3):
          (blankBytes, endsBlank) = (0, true)
          if stopsAtBlankLine { return (index + 1, true) }
        case (UInt8(ascii: "\r"), _): blankBytes = 1
        default: blankBytes = 0
        }
      }
      return (bytes.count, endsBlank)
    }
  }
}

/// What NIO's decoder has delivered.
struct DecodingProgress {
  /// The request that it has, or had last.
  struct Request {
    /// Bytes of an announced body that have not come; nil if none is announced: there is none, or it comes in chunks.
    fileprivate(set) var bodyLeft: Int?
    /// Whether it was delivered to its end.
    fileprivate(set) var isComplete = false
    /// Whether the decoder takes no other request behind it.
    let isLast: Bool

    init(_ head: HTTPRequestHead) {
      bodyLeft = head.headers.first(name: "content-length").flatMap { Int($0) }
      isLast = !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "upgrade")
    }
  }

  /// Nil before the first head that came since the reader has forgotten the one before.
  var request: Request?
  /// Whether the bytes were no HTTP: then it reads nothing more.
  var hasFailed = false

  /// Takes notice of what the decoder delivers.
  mutating func note(_ part: HTTPServerRequestPart) {
    switch part {
    case .head(let head): request = Request(head)
    case .body(let bytes): request?.bodyLeft? -= bytes.readableBytes
    case .end: request?.isComplete = true
    }
  }
}
