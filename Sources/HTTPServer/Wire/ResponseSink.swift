package import NIOCore
import NIOHTTP1
import NIOPosix

/// Where the answer to one request goes.
///
/// Everything that runs later (a commit's completion, a read on another thread) carries one of these; it hops to the
/// connection's event loop by itself. The first answer counts, and none does once the connection is gone.
package struct ResponseSink: Sendable {
  /// The connection's loop.
  package let eventLoop: any EventLoop
  private let connection: NIOLoopBound<HTTPConnection>
  /// Which request of the connection this is.
  private let number: Int
  private var source: ResponseSource
  /// Counts the request's data for as long as it is worked on: also when the client has gone.
  private let work: ByteShare?
  /// Whether the client still waits for the answer.
  package let presence: ClientPresence

  init(connection: HTTPConnection, number: Int, eventLoop: any EventLoop, client: ClientAddress, work: ByteShare?) {
    self.eventLoop = eventLoop
    self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    self.number = number
    self.work = work
    presence = connection.presence
    source = ResponseSource(client: client)
  }

  /// What the request counts as in the metrics; the router sets it.
  package var routeClass: RouteClass {
    get { source.routeClass }
    set { source.routeClass = newValue }
  }

  /// Who asked.
  package var client: ClientAddress { source.client }

  /// What is known of who asked; the router sets it.
  package var standing: ClientStanding {
    get { source.standing }
    set { source.standing = newValue }
  }

  /// Whether pages of other origins must not read the answer, also where they send credentials.
  package var isForOwnPages: Bool {
    get { source.isForOwnPages }
    set { source.isForOwnPages = newValue }
  }

  /// When what the answer shows was surely the newest; nil: it is.
  package var newestAt: NIODeadline? {
    get { source.newestAt }
    set { source.newestAt = newValue }
  }

  /// Answers the request. May be called from any thread.
  ///
  /// - `turn`: what the answer was made with; it is kept until the connection has the answer.
  package func send(_ response: HTTPResponse, keeping turn: LargeAnswers.Turn? = nil) {
    var response = response
    if isForOwnPages { response.isForOwnPages = true }
    if let newestAt {
      // Whole seconds, and never fewer than there are (RFC 9111, 5.1).
      let age = (max(0, (NIODeadline.now() - newestAt).nanoseconds) + 999_999_999) / 1_000_000_000
      response.headers.append(HTTPResponse.Header("Age", String(age)))
      response.headers.append(HTTPResponse.Header("Access-Control-Expose-Headers", "Age"))
    }
    let answer = response
    if eventLoop.inEventLoop {
      connection.value.answer(answer, to: number, of: source)
    } else {
      eventLoop.execute { withExtendedLifetime(turn) { connection.value.answer(answer, to: number, of: source) } }
    }
  }

  /// Answers the request with an event stream, which takes the connection over. May be called from any thread.
  ///
  /// - `make`: called on the event loop, if the connection is still there and there are not too many streams.
  package func stream(limitedBy streams: any StreamCounting, make: @escaping @Sendable (StreamOpening) -> any ChannelHandler) {
    if eventLoop.inEventLoop {
      connection.value.stream(to: number, limitedBy: streams, of: source, make: make)
    } else {
      eventLoop.execute { connection.value.stream(to: number, limitedBy: streams, of: source, make: make) }
    }
  }

  /// Answers the request with a download, which takes the connection over. May be called from any thread.
  ///
  /// - `pool`: makes its pieces.
  func send(_ download: HTTPDownload, limitedBy downloads: any StreamCounting, pool: NIOThreadPool) {
    var sink = self
    sink.source.download = HTTPResponse(.ok, content: download.content, headers: download.headers, body: [])
    sink.stream(limitedBy: downloads) { opening in
      DownloadStream(download, opening: opening, downloads: downloads, pool: pool)
    }
  }
}

/// What an answer is about: for counting it, and for who has to read it.
package struct ResponseSource: Sendable {
  /// Who asked.
  package let client: ClientAddress
  /// What the request counts as in the metrics.
  var routeClass = RouteClass.unknown
  /// What the credentials of who asked have shown.
  var standing = ClientStanding.unauthenticated
  /// See ``ResponseSink/isForOwnPages``.
  var isForOwnPages = false
  /// See ``ResponseSink/newestAt``.
  var newestAt: NIODeadline?
  /// What a download's head says; nil for an event stream, and for answers that are whole.
  var download: HTTPResponse?

  init(client: ClientAddress) {
    self.client = client
  }
}

/// The beginning of an answer that is to become an event stream, kept back until it is known what the stream begins with.
///
/// A client that sees the head counts on being told of every write that it makes from then on as an event of its own. So the head
/// leaves with the first event, and a stream that cannot begin answers with the status that fits.
package struct StreamOpening {
  package let source: ResponseSource
  /// Whether the client knows no answers in pieces.
  let isHTTP10: Bool
  let date: DateHeader
  /// Count what is answered in the end.
  let metrics: HTTPMetrics

  /// The head of a stream that begins.
  package func head(_ allocator: ByteBufferAllocator) -> ByteBuffer {
    metrics.count(.ok, of: source.routeClass)
    var buffer = allocator.buffer(capacity: 256)
    if var download = source.download {
      download.isForOwnPages = source.isForOwnPages
      download.writeHead(inPieces: !isHTTP10, to: &buffer, date: date)
    } else {
      HTTPResponse.writeStreamHead(to: &buffer, date: date, isForOwnPages: source.isForOwnPages)
    }
    return buffer
  }

  /// The whole answer instead of a stream; the connection ends behind it.
  package func refusal(_ response: HTTPResponse, _ allocator: ByteBufferAllocator) -> ByteBuffer {
    metrics.count(response.status, of: source.routeClass)
    var buffer = allocator.buffer(capacity: 512)
    let framing = ResponseFraming(isHead: false, isHTTP10: false, keepsAlive: false)
    response.write(to: &buffer, framing: framing, date: date)
    return buffer
  }
}

/// Counts the answers that never end, and says when there are too many.
package protocol StreamCounting: Sendable {
  /// Counts one more; false if there are too many.
  func open() -> Bool
  /// One has ended, or did not begin.
  func close()
}
