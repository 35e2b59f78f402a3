import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import Synchronization

/// The stream that the console's pages listen to.
enum LiveRoutes {
  static let routes: [Route] = [
    Route.stream(RouteTemplate(stringLiteral: AdminSystem.live.template), summary: AdminSystem.live.summary, body: stream)
      .described(RouteDescription(of: AdminSystem.live))
  ]

  private static func stream(_ call: RouteCall, sink: ResponseSink) throws {
    let services = call.services
    let query = try call.query(as: AdminSystem.LiveQuery.self)
    let wish = try LiveWish(query, lastEventID: call.request.headers.first(name: "last-event-id"))
    let namespace = try call.namespace()
    let isOfBearer = call.request.headers.contains(name: "authorization")
    let session = isOfBearer ? nil : try services.sessions?.session(call.request.headers)?.id
    let source = LiveSource(
      services: services, name: call.namespaceName, namespace: namespace, caller: call.caller, session: session)
    let admission = LiveAdmission(streams: services.liveStreams, owner: session ?? call.caller.actor.description)
    sink.stream(limitedBy: admission) { opening in
      let events: any EventStreamSource = wish.map { TopicStream(source: source, wish: $0) } ?? LiveStream(source: source)
      return EventConnection(events, opening: opening, admission: admission)
    }
  }
}

/// The open streams of the console: how many each session has.
package final class LiveStreams: Sendable {
  /// Of all sessions; of more one is refused with 503.
  static let streamsMax = 64
  /// Of one session. A page has one, and closes it while it is not seen.
  static let streamsOfOneMax = 8

  private let counts = Mutex<[String: Int]>([:])

  package init() {}

  fileprivate func open(_ owner: String) -> Bool {
    counts.withLock { counts in
      guard counts.values.reduce(0, +) < Self.streamsMax, counts[owner, default: 0] < Self.streamsOfOneMax else { return false }
      counts[owner, default: 0] += 1
      return true
    }
  }

  fileprivate func close(_ owner: String) {
    counts.withLock { counts in
      let left = (counts[owner] ?? 0) - 1
      counts[owner] = left > 0 ? left : nil
    }
  }
}

/// One stream's part in ``LiveStreams``.
struct LiveAdmission: StreamCounting {
  let streams: LiveStreams
  let owner: String

  func open() -> Bool { streams.open(owner) }
  func close() { streams.close(owner) }
}
