package import CoreMetrics
import NIOCore
package import NIOHTTP1
import Synchronization

/// What is counted of requests and connections, behind the facade of swift-metrics.
///
/// A request costs three relaxed additions and one look at the clock, some tens of nanoseconds of the tens of microseconds that it
/// takes; a connection two additions. What is not counted for its own sake is read when somebody asks for the metrics.
package final class HTTPMetrics: Sendable {
  /// Answers by route class and kind of status; 304 and 412 count as what their hundreds say.
  private let answers: [[Counter]]
  /// How long requests took, by route class.
  private let durations: [CoreMetrics.Timer]
  /// Connections that are open now, whatever is spoken on them.
  package let connections = AtomicCount()
  /// Connections that were closed at once, for there were too many.
  package let connectionsRefused = AtomicCount()
  /// Requests that were too many.
  package let rateLimited: Counter
  package let sockets: SocketMetrics
  /// Event streams that are open now.
  package let streams = AtomicCount()
  /// Whether a proxy is taken for a client.
  package let proxySuspicion = ProxySuspicion()

  /// - Parameter factory: where it is counted; by default nowhere.
  package init(factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    answers = RouteClass.allCases.map { routeClass in
      (1...5).map { hundred in
        Counter(
          label: "doubloon_http_requests_total", dimensions: [("route", routeClass.label), ("status", "\(hundred)xx")],
          factory: factory)
      }
    }
    durations = RouteClass.allCases.map { routeClass in
      CoreMetrics.Timer(
        label: "doubloon_http_request_seconds", dimensions: [("route", routeClass.label)], factory: factory)
    }
    rateLimited = Counter(label: "doubloon_rate_limited_total", factory: factory)
    sockets = SocketMetrics(factory: factory)
  }

  package func count(_ status: HTTPResponseStatus, of routeClass: RouteClass) {
    let hundred = min(5, max(1, Int(status.code) / 100))
    answers[routeClass.rawValue][hundred - 1].increment()
  }

  /// Takes note of how long a request took: from its last byte to the first of its answer.
  func note(_ duration: TimeAmount, of routeClass: RouteClass) {
    durations[routeClass.rawValue].recordNanoseconds(duration.nanoseconds)
  }
}

/// What is counted of sockets.
package final class SocketMetrics: Sendable {
  /// Sessions that are open now, over both transports.
  private let openSessions = AtomicCount()
  /// Sessions that began, over both transports.
  private let begun: Counter
  package let framesReceived: Counter
  package let framesSent: Counter
  /// Requests answered.
  package let requests: Counter
  /// Times that a client was not read from for a while because it had written too much.
  package let pauses: Counter
  /// Clients cut off because they did not read.
  package let slowReaders: Counter

  init(factory: any MetricsFactory) {
    begun = Counter(label: "doubloon_socket_sessions_total", factory: factory)
    requests = Counter(label: "doubloon_socket_requests_total", factory: factory)
    framesReceived = Counter(label: "doubloon_socket_frames_received_total", factory: factory)
    framesSent = Counter(label: "doubloon_socket_frames_sent_total", factory: factory)
    pauses = Counter(label: "doubloon_socket_pauses_total", factory: factory)
    slowReaders = Counter(label: "doubloon_socket_slow_readers_total", factory: factory)
  }

  /// A session has begun.
  package func sessionBegan() {
    begun.increment()
    openSessions.add(1)
  }

  /// A session that had begun is over.
  package func sessionEnded() { openSessions.add(-1) }

  package var open: Int { openSessions.current }
}

/// What a request counts as in the metrics.
package enum RouteClass: Int, Sendable, CaseIterable {
  case treeRead
  case treeWrite
  case admin
  case operation
  /// Sign-in, and everything else that is about accounts.
  case account
  /// A link that is opened.
  case link
  /// No route, or no request: malformed, too large, too slow.
  case unknown

  /// The label in the metrics.
  package var label: String {
    switch self {
    case .treeRead: "tree_read"
    case .treeWrite: "tree_write"
    case .admin: "admin"
    case .operation: "operation"
    case .account: "account"
    case .link: "link"
    case .unknown: "unknown"
    }
  }
}

/// A number that many threads change and the server itself reads: how much of something there is now.
///
/// What is only reported is a counter of swift-metrics, which cannot be read back.
package final class AtomicCount: Sendable {
  private let value = Atomic<Int>(0)

  package init() {}

  package func add(_ amount: Int = 1) { value.add(amount, ordering: .relaxed) }

  package var current: Int { value.load(ordering: .relaxed) }
}

/// Notices a proxy that is not declared as trusted: most requests come from one private address, which limits would take for
/// one client.
///
/// Counts in blocks of requests, and remembers of each block its first client only: an address that most requests come from is
/// the first of most blocks. A request costs one lock.
package final class ProxySuspicion: Sendable {
  /// Requests of a block.
  static let block = 64
  /// Blocks that are looked at; before there are so many nothing is said.
  static let blocksMax = 16

  private struct State {
    var client = ClientAddress.unknown
    var own = 0
    var all = 0
    /// Of each block the client and whether most requests were the client's; the oldest goes.
    var blocks: [ClientAddress?] = []
  }

  private let state = Mutex(State())

  /// Counts a request.
  func note(_ client: ClientAddress) {
    state.withLock { state in
      if state.all == 0 { state.client = client }
      state.all += 1
      if state.client == client { state.own += 1 }
      guard state.all == Self.block else { return }
      state.blocks.append(state.own > Self.block / 2 ? state.client : nil)
      if state.blocks.count > Self.blocksMax { state.blocks.removeFirst() }
      (state.own, state.all) = (0, 0)
    }
  }

  /// The private address that most requests came from lately; nil if there is none, or too few requests.
  package var suspect: ClientAddress? {
    state.withLock { state in
      guard state.blocks.count == Self.blocksMax else { return nil }
      let counts = state.blocks.compactMap(\.self).reduce(into: [:]) { $0[$1, default: 0] += 1 }
      guard let most = counts.max(by: { $0.value < $1.value }), most.value > Self.blocksMax / 2 else { return nil }
      return most.key.isPrivate ? most.key : nil
    }
  }
}
