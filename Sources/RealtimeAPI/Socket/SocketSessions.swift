import HTTPServer
import NIOCore
import StorageCore
import Synchronization

/// All sessions of the server, by their ids: clients name the one that they had before, and the one that they carry over
/// to another transport.
final class SocketSessions: Sendable {
  let services: RealtimeServices
  let limits: SocketLimits
  let namespaces: NamespaceOpening
  let turns = TransactionTurns()
  /// How fast clients may write; nil for as fast as they can.
  let pace: SocketPace?
  private let listens: Mutex<NetworkCounts>
  private let state: Mutex<State>

  private struct State {
    var sessions: [String: SessionReference] = [:]
    var pushCaches: [ObjectIdentifier: NIOLoopBound<PushCache>] = [:]
    var random: any RandomNumberGenerator & Sendable
    /// Whether the server stops: no session begins any more.
    var isStopping = false
    var waiter: EventLoopPromise<Void>?
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  init(services: RealtimeServices, limits: SocketLimits, pace: SocketPace?) {
    self.services = services
    self.pace = pace
    listens = Mutex(NetworkCounts(perNetworkMax: limits.listensPerNetworkMax))
    self.limits = limits
    namespaces = NamespaceOpening(services: services)
    state = Mutex(State(random: services.random))
  }

  /// A name that nobody can guess: whoever knows a session's id may take it over.
  func makeID() -> String {
    state.withLock { state in
      let letters = (0..<32).map { _ in Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &state.random)] }
      return String(decoding: letters, as: UTF8.self)
    }
  }

  /// A session on `eventLoop`, which is where this is called; nil if there are as many as there may be.
  func open(_ start: SocketStart, of client: ClientAddress, on eventLoop: any EventLoop) -> SocketSession? {
    let session = SocketSession(id: makeID(), start: start, client: client, sessions: self, eventLoop: eventLoop)
    let reference = session.reference
    let isAdded = state.withLock { state in
      guard !state.isStopping, state.sessions.count < limits.sessionsMax else { return false }
      state.sessions[session.id] = reference
      return true
    }
    return isAdded ? session : nil
  }

  func remove(_ session: SocketSession) {
    let waiter = state.withLock { state -> EventLoopPromise<Void>? in
      state.sessions[session.id] = nil
      guard state.sessions.isEmpty else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.succeed()
  }

  func find(_ id: String) -> SessionReference? { state.withLock { $0.sessions[id] } }

  /// Ends the session that a client had before.
  ///
  /// - Parameter then: called once what was registered for its end is durable; at once if there is no such session.
  func takeOver(_ id: String, of namespace: String, then body: @escaping @Sendable () -> Void) {
    guard let session = find(id) else { return body() }
    session.run { session in
      guard session.namespaceName == namespace else { return body() }
      session.end(WebSocketFault(.goingAway, "The client has connected again."), then: body)
    }
  }

  /// Counts one more listen of a client's network; false if it has as many as it may.
  func take(listenOf client: ClientAddress) -> Bool { listens.withLock { $0.take(client.household) } }

  func giveBack(listens count: Int, of client: ClientAddress) {
    guard count > 0 else { return }
    listens.withLock { $0.giveBack(client.household, count: count) }
  }

  /// What the sessions of a loop share.
  func pushCache(of eventLoop: any EventLoop) -> PushCache {
    state.withLock { state in
      if let cache = state.pushCaches[ObjectIdentifier(eventLoop)] { return cache }
      let cache = NIOLoopBound(PushCache(), eventLoop: eventLoop)
      state.pushCaches[ObjectIdentifier(eventLoop)] = cache
      return cache
    }.value
  }

  /// Ends all sessions, and waits until what was registered for their ends is written.
  func stop(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = eventLoop.makePromise(of: Void.self)
    let open = state.withLock { state -> [SessionReference] in
      state.isStopping = true
      if !state.sessions.isEmpty { state.waiter = promise }
      return Array(state.sessions.values)
    }
    if open.isEmpty { promise.succeed() }
    for session in open { session.run { $0.end(WebSocketFault(.goingAway, "The server stops; connect again.")) } }
    return promise.futureResult
  }
}
