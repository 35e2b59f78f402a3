import APISupport
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import Synchronization

/// All sessions of the server, by their ids: clients name the one that they had before, and the one that they carry over
/// to another transport.
final class SocketSessions: Sendable {
  let services: RealtimeServices
  let limits: SocketLimits
  let namespaces: NamespaceOpening
  let turns = TransactionQueues()
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

  /// A name that cannot be guessed: with its id a session can be taken over.
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
  /// - `then`: called once what was registered for its end is durable; at once if there is no such session.
  func takeOver(_ id: String, of namespace: String, then body: @escaping @Sendable () -> Void) {
    guard let session = find(id) else { return body() }
    session.run { session in
      guard session.namespaceName == namespace else { return body() }
      session.end(WebSocketError(.goingAway, "The client has connected again."), then: body)
    }
  }

  /// Counts one more listen of a client's network; false if it has as many as it may.
  func take(listenOf client: ClientAddress) -> Bool { listens.withLock { $0.take(client.clientNetwork) } }

  func giveBack(listens count: Int, of client: ClientAddress) {
    guard count > 0 else { return }
    listens.withLock { $0.giveBack(client.clientNetwork, count: count) }
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
    for session in open { session.run { $0.end(WebSocketError(.goingAway, "The server stops; connect again.")) } }
    return promise.futureResult
  }
}

/// A session, as other threads hold it: they can only ask its event loop to do something with it.
struct SessionReference: Sendable {
  let eventLoop: any EventLoop
  private let session: NIOLoopBound<SocketSession>

  init(_ session: SocketSession) {
    eventLoop = session.eventLoop
    self.session = NIOLoopBound(session, eventLoop: session.eventLoop)
  }

  /// Runs `body` with the session on its loop: at once if that is where the call is made.
  func run(_ body: @escaping @Sendable (SocketSession) -> Void) {
    if eventLoop.inEventLoop { body(session.value) } else { eventLoop.execute { body(session.value) } }
  }
}

/// What a client says when it connects (firebase-js-sdk, `Connection.ts`).
struct SocketStart {
  /// The namespace's name.
  let namespace: String
  /// How the client names this server, with the port: it will come again to this name.
  let host: String
  /// The session that it had before.
  let lastSession: String?
  /// The session that it wants to carry on with over this transport.
  let session: String?
  /// Whether a foreign web page may have connected.
  let isForeign: Bool

  /// - Throws: the answer to a client that cannot be served.
  init(query: QueryString, headers: HTTPHeaders, services: RealtimeServices) throws(WebSocketHandshakeError) {
    isForeign = services.isForeign(headers)
    if let version = query["v"], version != "5" {
      throw .init(.error(.badRequest, message: "This server speaks version 5 of the realtime protocol."))
    }
    let asked = headers.first(name: "host") ?? ""
    host = Self.name(headers.first(name: "x-forwarded-host") ?? "") ?? Self.name(asked) ?? "localhost"
    // No session has so long a name, and what is kept is paid for by everybody.
    lastSession = query["ls"].flatMap { $0.utf8.count <= 64 ? $0 : nil }
    session = query["s"]
    if let name = query["ns"] {
      // One that is not legal is refused by the session: a client that is not let in at all would try for ever.
      namespace = name
    } else if let label = HostName.namespace(in: asked).map(String.init), NamespaceName.isLegal(label) {
      namespace = label
    } else {
      namespace = services.defaultNamespace
    }
  }

  /// A host as it may be told to the client; nil if it is none.
  ///
  /// Of a list of proxies the first counts. JavaScript keeps names that begin with `s-` for later visits; hosts are the same
  /// in capitals.
  private static func name(_ header: String) -> String? {
    let host = header.split(separator: ",", maxSplits: 1).first?.filter { $0 != " " } ?? ""
    let isName = host.utf8.allSatisfy { byte in
      (48...58).contains(byte) || (65...91).contains(byte) || byte == 93 || (97...122).contains(byte) || byte == 45
        || byte == 46 || byte == 95
    }
    guard isName, (1...255).contains(host.utf8.count) else { return nil }
    return host.hasPrefix("s-") ? "S" + host.dropFirst() : host
  }
}
