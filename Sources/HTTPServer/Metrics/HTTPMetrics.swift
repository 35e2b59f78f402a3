package import NIOHTTP1

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
