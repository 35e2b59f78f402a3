import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An answer that is made and sent piece by piece, whatever its size: each is made when the one before is with the client.
package struct HTTPDownload: Sendable {
  package let content: HTTPResponse.Content
  package let headers: [HTTPResponse.Header]
  /// The next piece; nil at the end. Called on a thread of the pool, never twice at once. What it throws cuts the answer off,
  /// and the client sees that it is not whole.
  package let next: @Sendable () throws -> [UInt8]?

  package init(
    content: HTTPResponse.Content = .json, headers: [HTTPResponse.Header] = [], next: @escaping @Sendable () throws -> [UInt8]?
  ) {
    self.content = content
    self.headers = headers
    self.next = next
  }
}

/// How many downloads are on their way.
final class DownloadCount: StreamCounting {
  private let countMax: Int
  private let count = Mutex(0)

  /// - `countMax`: of more one is refused with 503.
  init(max countMax: Int) {
    self.countMax = countMax
  }

  func open() -> Bool {
    count.withLock { count in
      guard count < countMax else { return false }
      count += 1
      return true
    }
  }

  func close() { count.withLock { $0 -= 1 } }
}

/// A connection on which a download is sent: one piece is in memory at a time. Touched on the connection's event loop only.
final class DownloadStream: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  /// How long a client may take for a piece of so many bytes: a minute, and then 32 KB a second.
  private static func patience(for bytes: Int) -> TimeAmount { .seconds(60 + Int64(bytes >> 15)) }

  private let download: HTTPDownload
  private let opening: StreamOpening
  private let downloads: any StreamCounting
  private let pool: NIOThreadPool
  private var context: ChannelHandlerContext?
  private var timer: Scheduled<Void>?
  private var isOpen = false

  init(_ download: HTTPDownload, opening: StreamOpening, downloads: any StreamCounting, pool: NIOThreadPool) {
    self.download = download
    self.opening = opening
    self.downloads = downloads
    self.pool = pool
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isOpen = true
    context.writeAndFlush(wrapOutboundOut(opening.head(context.channel.allocator)), promise: nil)
    askForPiece(context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // A client that has gone, or a server that stops: what is missing is seen by the missing end.
    if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
    if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func end() {
    guard isOpen else { return }
    isOpen = false
    timer?.cancel()
    downloads.close()
  }

  private func askForPiece(_ context: ChannelHandlerContext) {
    let (stream, eventLoop, next) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.eventLoop, download.next)
    pool.submit { state in
      let piece: [UInt8]?
      let isMade: Bool
      if case .active = state, let made = Result(catching: next).success {
        (piece, isMade) = (made, true)
      } else {
        (piece, isMade) = (nil, false)
      }
      eventLoop.execute { isMade ? stream.value.send(piece) : stream.value.cutOff() }
    }
  }

  private func cutOff() { context?.close(promise: nil) }

  /// Sends a piece, or the end.
  private func send(_ piece: [UInt8]?) {
    guard let context, isOpen else { return }
    var buffer = context.channel.allocator.buffer(capacity: (piece?.count ?? 0) + 24)
    let bytes = piece ?? []
    if !opening.isHTTP10, piece == nil || !bytes.isEmpty { buffer.writeString(String(bytes.count, radix: 16) + "\r\n") }
    buffer.writeBytes(bytes)
    if !opening.isHTTP10, piece == nil || !bytes.isEmpty { buffer.writeStaticString("\r\n") }
    let stream = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: Self.patience(for: bytes.count)) { stream.value.cutOff() }
    let isLast = piece == nil
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { result in
      guard self.isOpen, let context = self.context else { return }
      self.timer?.cancel()
      if case .success = result, !isLast { self.askForPiece(context) } else { context.close(promise: nil) }
    }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: sent)
  }
}

extension Result {
  fileprivate var success: Success? { try? get() }
}
