package import NIOCore

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
  /// Counts the request's data for as long as somebody works on it: also when the client has gone.
  private let work: ByteShare?

  init(connection: HTTPConnection, number: Int, eventLoop: any EventLoop, client: ClientAddress, work: ByteShare?) {
    self.eventLoop = eventLoop
    self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    self.number = number
    self.work = work
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

  /// Answers the request. May be called from any thread.
  ///
  /// - Parameter turn: what the answer was made with; it is kept until the connection has the answer.
  package func send(_ response: HTTPResponse, keeping turn: LargeAnswers.Turn? = nil) {
    if eventLoop.inEventLoop {
      connection.value.answer(response, to: number, of: source)
    } else {
      eventLoop.execute { withExtendedLifetime(turn) { connection.value.answer(response, to: number, of: source) } }
    }
  }

  /// Answers the request with an event stream, which takes the connection over. May be called from any thread.
  ///
  /// - Parameter make: called on the event loop, if the connection is still there and there are not too many streams.
  package func stream(limitedBy streams: any StreamCounting, _ make: @escaping @Sendable (StreamOpening) -> any ChannelHandler)
  {
    if eventLoop.inEventLoop {
      connection.value.stream(to: number, limitedBy: streams, of: source, make)
    } else {
      eventLoop.execute { connection.value.stream(to: number, limitedBy: streams, of: source, make) }
    }
  }
}
