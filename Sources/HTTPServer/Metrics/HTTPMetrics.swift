package import NIOCore
package import NIOHTTP1
import Synchronization

/// What is counted of requests and connections. A request costs one atomic addition.
package final class HTTPMetrics: Sendable {
  /// Answers by route class and kind of status; 304 and 412 count as what their hundreds say.
  private let answers = RouteClass.allCases.map { _ in (0..<6).map { _ in Counter() } }
  package let sockets = SocketMetrics()
  /// Event streams that are open now.
  package let streams = Counter()
  /// Requests that were too many.
  package let rateLimited = Counter()
  /// Whether a proxy is taken for a client.
  package let proxySuspicion = ProxySuspicion()

  package init() {}

  package func count(_ status: HTTPResponseStatus, of routeClass: RouteClass) {
    answers[routeClass.rawValue][min(5, Int(status.code) / 100)].add()
  }

  /// How many answers of a class had a status of this hundred.
  package func count(of routeClass: RouteClass, hundred: Int) -> Int { answers[routeClass.rawValue][hundred].current }
}

/// What is counted of sockets.
package final class SocketMetrics: Sendable {
  /// Sessions that began, over both transports.
  package let opened = Counter()
  /// Sessions that ended.
  package let ended = Counter()
  package let framesReceived = Counter()
  package let framesSent = Counter()
  /// Requests answered.
  package let requests = Counter()
  /// Times that a client was not read from for a while because it had written too much.
  package let pauses = Counter()
  /// Clients cut off because they did not read.
  package let slowReaders = Counter()

  package var open: Int { opened.current - ended.current }
}

/// What a request counts as in the metrics.
package enum RouteClass: Int, Sendable, CaseIterable {
  case treeRead
  case treeWrite
  case admin
  case operation
  /// Sign-in, and whatever else is about accounts.
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

/// A number that many threads add to.
///
/// A class, so that counters can stand in arrays: an `Atomic` cannot be copied.
package final class Counter: Sendable {
  private let value = Atomic<Int>(0)

  package init() {

  }

  package func add(_ amount: Int = 1) { value.add(amount, ordering: .relaxed) }

  package var current: Int { value.load(ordering: .relaxed) }
}

/// How long something took, counted in buckets.
package final class LatencyHistogram: Sendable {
  /// Bounds for writes: they double.
  static let doublingMicroseconds: [Int64] = [
    125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 4_096_000,
  ]

  /// The upper bounds in microseconds, ascending; what took longer is counted in one more bucket.
  package let boundsMicroseconds: [Int64]
  private let buckets: [Counter]
  private let totalNanoseconds = Counter()

  package init(boundsMicroseconds: [Int64] = doublingMicroseconds) {
    self.boundsMicroseconds = boundsMicroseconds
    buckets = (0...boundsMicroseconds.count).map { _ in Counter() }
  }

  /// Counts one.
  package func record(_ duration: TimeAmount) {
    let microseconds = duration.nanoseconds / 1000
    var index = 0
    while index < boundsMicroseconds.count, microseconds > boundsMicroseconds[index] { index += 1 }
    buckets[index].add()
    totalNanoseconds.add(Int(duration.nanoseconds))
  }

  /// The counts so far: of each bucket, and the sum of the durations in seconds.
  package var current: (counts: [Int], seconds: Double) {
    (buckets.map(\.current), Double(totalNanoseconds.current) / 1e9)
  }
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
