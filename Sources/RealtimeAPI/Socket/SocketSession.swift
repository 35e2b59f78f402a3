import APISupport
import CoreMetrics
import DequeModule
import HTTPServer
import NIOCore
import StorageCore
import TreeDatabase
import TreeModel

/// A client of the realtime protocol: its requests, its listens and its `onDisconnect` writes (firebase-js-sdk,
/// `PersistentConnection.ts`).
///
/// It does not depend on the transport, and may move to another one while it runs. Everything happens on its event
/// loop. Requests begin, and are answered, in the order in which they came. Writes and listens may be in flight together,
/// because the queues of the writer and of the hub keep their order; a read waits for the requests before it, and requests
/// behind a read wait for it.
final class SocketSession {
  enum Phase {
    /// The namespace is being opened, or the client's last session ended: requests wait.
    case opening
    case open
    /// The `onDisconnect` writes are being committed; the closures wait for that.
    case ending([@Sendable () -> Void])
    case ended
  }

  let id: String
  /// The namespace's name.
  let namespaceName: String
  let sessions: SocketSessions
  let eventLoop: any EventLoop
  /// How the client names this server.
  let host: String
  let client: ClientAddress
  /// The session that the client had before, if it says so.
  private let lastSession: String?
  /// Whether a foreign web page may be the client.
  let isForeign: Bool

  var phase = Phase.opening
  var transport: (any SocketTransport)?
  /// The transport that the client is moving to.
  var successor: TransportSwitch?
  var caller = Caller.anonymous
  /// Fires when the caller's credentials expire.
  var expiry: Scheduled<Void>?
  /// Tells the session when the user's tokens are revoked.
  var userRegistration: ConnectedUsers.Registration?
  var namespace: NamespaceID?
  var listener: Listener?
  var listens = SocketListens()
  /// Bytes of pushes that were sent and not flushed.
  var pushedBytes = 0
  var disconnect = DisconnectWrites()
  /// Bytes that were sent to register it.
  var disconnectBytes = 0
  /// What the store keeps of it; nil of a session that has never registered anything, as most have not.
  var keptEnd: KeptEnd?
  /// Writes and listens in flight, and answers that wait for earlier ones.
  var answers = AnswerOrder<SocketAnswer>()
  /// Whether something is under way that later requests wait for.
  var isBlocked = true
  /// A transaction's write that waits for its turn; what comes behind it waits too.
  var turnWaiting: SocketWrite?
  /// The queues that the session is in for its transactions.
  var queuedTransactions = QueuedTransactions()
  private var pending: Deque<SocketRequest> = []
  private var isPumping = false
  /// The size of the waiting requests, in bytes.
  private(set) var pendingWeight = 0
  /// The size of the requests at the writer, in bytes.
  var workWeight = 0
  /// Accounts for waiting requests and for registered `onDisconnect` writes.
  var waitingShare: ByteShare?
  /// Accounts for requests in progress until they are done, also after the end of the session.
  var workShare: ByteShare?
  /// Runs while the client has written more than it may: until then nothing is read from it.
  var pause: Scheduled<Void>?
  let pushes: PushCache
  /// For those who work on an answer elsewhere.
  let presence = ClientPresence()

  init(id: String, start: SocketStart, client: ClientAddress, sessions: SocketSessions, eventLoop: any EventLoop) {
    self.id = id
    namespaceName = start.namespace
    host = start.host
    lastSession = start.lastSession
    isForeign = start.isForeign
    self.client = client
    self.sessions = sessions
    self.eventLoop = eventLoop
    pushes = sessions.pushCache(of: eventLoop)
  }

  var services: RealtimeServices { sessions.services }
  var limits: SocketLimits { sessions.limits }
  /// For closures that run elsewhere and come back here.
  var reference: SessionReference { SessionReference(self) }

  var isOpen: Bool { if case .open = phase { true } else { false } }

  /// Whether requests wait to begin.
  var hasPending: Bool { !pending.isEmpty }

  /// Whether the transport should read no more for now.
  var isFull: Bool {
    pending.count >= limits.requestsMax || pendingWeight >= limits.requestBytesMax || pause != nil
      || transport?.isCongested == true
  }
}

// MARK: - Beginning and end

extension SocketSession {
  /// Greets the client and prepares what its requests need.
  func start(on transport: any SocketTransport) {
    self.transport = transport
    services.metrics.sockets.sessionBegan()
    transport.send(SocketAnswers.hello(time: services.database.clock.now(), host: host, session: id))
    let reference = reference
    sessions.namespaces.open(namespaceName) { result in
      reference.run { session in session.opened(result) }
    }
  }

  private func opened(_ result: Result<NamespaceID, APIError>) {
    guard case .opening = phase else { return }
    switch result {
    case .failure(let error):
      // Without this text the client would reconnect for ever; its SDK shows it to the developer.
      transport?.send(SocketAnswers.control("s", error.message))
      end(WebSocketError(.policyViolation, error.message))
    case .success(let id):
      namespace = id
      listener = services.listeners.attach(SocketSink(self), on: EventLoopExecutor(eventLoop))
      // A late "offline" of the client's last session must not overwrite the "online" of this one.
      guard let lastSession else { return begin() }
      let reference = reference
      sessions.takeOver(lastSession, of: namespaceName) { reference.run { session in session.begin() } }
    }
  }

  private func begin() {
    guard case .opening = phase else { return }
    phase = .open
    isBlocked = false
    pump()
  }

  /// Ends the session: its listens stop, what was registered for its end is written, its transport closes.
  ///
  /// - `done`: called once that is durable, on any thread; also when the session had ended before.
  func end(_ error: WebSocketError, then done: (@Sendable () -> Void)? = nil) {
    switch phase {
    case .ended:
      done?()
      return
    case .ending(let waiters):
      if let done { phase = .ending(waiters + [done]) }
      return
    case .opening, .open: break
    }
    phase = .ending(done.map { [$0] } ?? [])
    presence.leave()
    pending = []
    pendingWeight = 0
    waitingShare = nil
    pause?.cancel()
    pause = nil
    listener?.close()
    listener = nil
    sessions.giveBack(listens: listens.count, of: client)
    listens = SocketListens()
    expiry?.cancel()
    if let userRegistration { services.connectedUsers.remove(userRegistration) }
    userRegistration = nil
    turnWaiting = nil
    for key in queuedTransactions.all { sessions.turns.leave(id, key: key, sessions: sessions) }
    queuedTransactions = QueuedTransactions()
    answers = AnswerOrder()
    let transports = [transport, successor?.transport]
    transport = nil
    successor = nil
    for transport in transports { transport?.close(error) }
    services.metrics.sockets.sessionEnded()
    carryOutDisconnect()
  }

  /// The database was deleted: what was registered for the end cannot be written any more.
  func endForgotten() {
    disconnect = DisconnectWrites()
    end(WebSocketError(.goingAway, "The database was deleted; connect again."))
  }

  /// Nothing can be read at this moment. Who is refused a listen gives it up for good (firebase-js-sdk, `PersistentConnection.ts`); who
  /// loses the connection comes back with it.
  func endUnavailable() {
    end(WebSocketError(.tryAgainLater, "The data cannot be read at this moment; connect again."))
  }

  /// The `onDisconnect` writes are done: nothing of the session is left to account for.
  func didEnd() {
    guard case .ending(let waiters) = phase else { return }
    phase = .ended
    sessions.remove(self)
    for waiter in waiters { waiter() }
  }

  /// A transport is gone. If it was the session's own, the session ends with it.
  func transportEnded(_ transport: any SocketTransport) {
    if let successor, successor.transport === transport {
      guard successor.isSending else { return self.successor = nil }
    } else if transport !== self.transport {
      return
    }
    end(WebSocketError(.goingAway, "The connection ended."))
  }
}

// MARK: - Requests

extension SocketSession {
  /// Takes a message of the client.
  func receive(_ message: [UInt8], from transport: any SocketTransport) {
    do throws(WebSocketError) {
      let message = try SocketMessage(parsing: message, valuesMax: services.database.limits.bounds.valuesMax)
      if let successor, successor.transport === transport {
        successorSent(message, successor: successor)
      } else if transport === self.transport {
        take(message)
      }
    } catch {
      transport.send(SocketAnswers.control("e", error.reason))
      end(error)
    }
  }

  func take(_ message: SocketMessage) {
    switch message {
    case .request(let request):
      pending.append(request)
      pendingWeight += request.weight
      pump()
      holdWaiting()
    case .control("p"): transport?.send(SocketAnswers.control("o"))
    case .control("n"): predecessorEnded()
    // Messages of unknown kinds are ignored, as the hosted service does.
    case .control: break
    }
  }

  /// Begins what may begin, in order.
  func pump() {
    // A request that completes at once starts the next one; a loop keeps that from recursing.
    guard !isPumping else { return }
    isPumping = true
    while isOpen, !isBlocked, pause == nil, let request = pending.first, transport?.isCongested != true {
      switch request.kind {
      case .read where answers.count > 0: isPumping = false
      case _ where answers.count >= limits.writesMax: isPumping = false
      default: break
      }
      if isPumping, !paysFor(request) { isPumping = false }
      guard isPumping else { return }
      pending.removeFirst()
      pendingWeight -= request.weight
      begin(request)
    }
    isPumping = false
    if !isFull { transport?.resume() }
  }

  private func begin(_ request: SocketRequest) {
    services.metrics.sockets.requests.increment()
    // A namespace that was forgotten takes its sessions with it; the client comes again and finds the new one.
    guard let namespace, services.database.namespace(named: namespaceName) == namespace else {
      return endForgotten()
    }
    switch request.action {
    // Another caller comes in any case.
    case "auth", "gauth", "unauth": break
    // What made the caller void may be known before the session was told of it.
    default: if services.authenticator.isVoid(caller) { expire() }
    }
    do throws(SocketError) {
      switch request.action {
      case "p", "m": try write(request, in: namespace)
      case "g": try get(request, in: namespace)
      case "q", "l": try listen(request, in: namespace)
      case "n", "u": try unlisten(request)
      case "o", "om", "oc": try registerForEnd(request)
      case "auth", "gauth": try authenticate(request)
      case "unauth":
        become(.anonymous)
        reply(SocketAnswers.ok(request.number) { $0.string("unauthenticated") })
      // Counters, App Check, and whatever later clients may say: every request is answered.
      default: reply(SocketAnswers.done(request.number))
      }
    } catch {
      refuse(request.number, error: error)
    }
  }
}

/// What the client is told, each request in its turn.
extension SocketSession {
  /// Answers the request that began last: now, or after the answers before it.
  func reply(_ message: [UInt8]) {
    if answers.count == 0 { tell(message) } else { answers.append(.message(message)) }
  }

  /// The answer of this slot is ready: it is sent in its turn, and those that waited for it.
  ///
  /// Does nothing once the session has ended: its slots are gone with it.
  func finish(_ slot: Int, _ answer: SocketAnswer) {
    guard isOpen else { return }
    answers.finish(slot, answer)
    while isOpen, let next = answers.next() {
      switch next {
      case .message(let message): tell(message)
      case .write(let outcome): acknowledge(outcome)
      }
    }
  }

  /// Sends the client a message that answers no request.
  func tell(_ message: [UInt8]) { transport?.send(message) }

  func refuse(_ number: Int64, error: SocketError) { reply(SocketAnswers.refused(number, error)) }
}

extension SocketSession: SocketReceiver {
  var standing: ClientStanding { caller.standing }
  func transportIsWritable() { pump() }
  func end(_ error: WebSocketError) { end(error, then: nil) }
}
