import APISupport
import HTTPServer
import NIOCore
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Begins a listen. It is answered by its first event: the data, then `ok`; or `ok` alone if the client's hash is right.
  /// Until then the hub gives this session nothing else, so no push that a later request causes comes before the data.
  func listen(_ request: SocketRequest, in namespace: NamespaceID) throws(SocketError) {
    // What a listen says is kept for as long as it lasts, and a client may have many.
    guard request.bytes <= limits.listenBytesMax else {
      throw SocketError("too_big", "A listen may have \(limits.listenBytesMax) bytes: its query and its hash are too long.")
    }
    let id = SocketListen.ID(path: try path(of: request), query: try query(of: request))
    let admission = ListenAdmission(
      services, namespaceName: namespaceName, namespace: namespace, path: id.path, query: try wireQuery(of: request),
      eventLoop: eventLoop)
    guard admits(admission, id: id) else {
      if admission.isUnavailable { return endUnavailable() }
      throw denied(id.path, query: try wireQuery(of: request))
    }
    // Some clients send a listen twice: while they authenticate, and when that is done (firebase-js-sdk,
    // `PersistentConnection.ts`).
    if let old = listens[id] { stop(old) }
    guard takesListen() else {
      throw .failure("The clients of this network listen to as many places as they may: stop some, or listen further up.")
    }
    guard listens.count < limits.listensMax,
      let listening = listener?.listen(
        ListenRequest(
          namespace: namespace, path: id.path, query: id.query, format: .export, dataHash: request.body["h"]?.string,
          tag: request.body["t"]?.int))
    else {
      sessions.giveBack(listens: 1, of: client)
      throw .failure("This connection listens to \(listens.count) places already: stop some, or listen further up.")
    }
    let isIndexed = id.query.map { services.database.reader.isIndexed($0.order, at: id.path, in: namespace) } ?? true
    listens.add(
      SocketListen(
        id: id, listening: listening, admission: admission, query: id.query == nil ? nil : request.body["q"],
        tag: request.body["t"]?.int, unanswered: (request.number, answers.begin()), isUnindexed: !isIndexed))
  }

  func unlisten(_ request: SocketRequest) throws(SocketError) {
    let id = SocketListen.ID(path: try path(of: request), query: try query(of: request))
    if let listen = listens[id] { stop(listen) }
    reply(SocketAnswers.done(request.number))
  }

  private func stop(_ listen: SocketListen) {
    // The client has forgotten it, but every request is answered.
    answer(listen) { SocketAnswers.done($0) }
    drop(listen)
  }

  /// Ends a listen without a message to the client. Requests that wait for its data continue.
  func drop(_ listen: SocketListen) {
    forget(listen)
    listener?.stop(listen.listening)
  }
}

// MARK: - What the hub says

extension SocketSession {
  /// - Returns: the bytes that wait to be written.
  func receive(_ event: ListenEvent, for listening: Listening) -> Int {
    guard let listen = listens[listening], let transport else { return 0 }
    switch event {
    case .snapshot(let message):
      let bytes = push(message, to: listen, over: transport)
      answerFirst(listen)
      return bytes
    case .change(let message): return push(message, to: listen, over: transport)
    case .current(let message):
      guard let slot = listen.unanswered?.slot else { return 0 }
      // An `ok` alone confirms what the client holds when it arrives: not if something is pushed before it.
      let bytes = answers.isNext(slot) ? 0 : push(message, to: listen, over: transport)
      answerFirst(listen)
      return bytes
    case .ended(let end): ended(listen, end: end)
    }
    return 0
  }

  func mayContinue(_ listening: Listening) -> Bool {
    guard let listen = listens[listening], !admits(listen.admission, id: listen.id) else { return true }
    guard listen.admission.isUnavailable else { return false }
    // Deferred to the next turn of the loop: the hub is delivering to this session.
    let reference = reference
    eventLoop.execute { reference.run { $0.endUnavailable() } }
    return true
  }

  func flushPushes() {
    pushes.didFlush()
    guard pushedBytes > 0, let transport else { return }
    let bytes = pushedBytes
    pushedBytes = 0
    let reference = reference
    transport.flush { reference.run { $0.listener?.didWrite(bytes) } }
  }

  private func push(_ message: ListenMessage, to listen: SocketListen, over transport: any SocketTransport) -> Int {
    let shared = pushes.push(message, tag: listen.tag, at: listen.path(message.path))
    let bytes = transport.send(shared)
    pushedBytes += bytes
    return bytes
  }

  /// Answers the listen's request, if it is the first event. The object is never missing: Android looks into it.
  private func answerFirst(_ listen: SocketListen) {
    answer(listen) { SocketAnswers.ok($0) { $0.raw(listen.isUnindexed ? #"{"w":["no_index"]}"# : "{}") } }
  }

  /// Answers the listen's request, unless it is answered already.
  @discardableResult
  func answer(_ listen: SocketListen, with message: (Int64) -> [UInt8]) -> Bool {
    guard let (request, slot) = listen.unanswered else { return false }
    listen.unanswered = nil
    finish(slot, .message(message(request)))
    let reference = reference
    // Deferred to the next turn of the loop: the hub may still be delivering to this listen.
    if hasPending { eventLoop.execute { reference.run { $0.pump() } } }
    return true
  }

  private func ended(_ listen: SocketListen, end: ListenEnd) {
    forget(listen)
    let error: SocketError
    switch end {
    case .namespaceForgotten: return endForgotten()
    case .unavailable: return endUnavailable()
    case .revoked: error = .permissionDenied
    case .tooLarge: error = .tooMuch
    case .failed: error = .unavailable
    }
    tell(listen, error: error)
  }

  /// Tells the client that a listen is over: by refusing it, or, if it had begun, by taking it back.
  private func tell(_ listen: SocketListen, error: SocketError) {
    if answer(listen, with: { SocketAnswers.refused($0, error) }) { return }
    tell(SocketAnswers.cancelled(path: listen.pathText, query: listen.query))
  }

  /// Ends the listens that the client's new identity may not have.
  func reviewListens() {
    for listen in listens.all where listens[listen.id] === listen { review(listen) }
  }

  private func review(_ listen: SocketListen) {
    guard !admits(listen.admission, id: listen.id) else { return }
    if listen.admission.isUnavailable { return endUnavailable() }
    tell(listen, error: .permissionDenied)
    drop(listen)
  }

  /// Judges a listen, now and whenever what its rules looked at changes.
  func admits(_ admission: ListenAdmission, id: SocketListen.ID) -> Bool {
    let reference = reference
    return admission.admits(caller) {
      reference.run { session in
        guard let listen = session.listens[id] else { return }
        session.review(listen)
      }
    }
  }
}

extension SocketSession {
  /// Answers a one-shot read. Large reads run on another thread, and the requests behind them wait.
  func get(_ request: SocketRequest, in namespace: NamespaceID) throws(SocketError) {
    let reading = SocketReading(
      path: try path(of: request), query: try query(of: request), namespace: namespace, number: request.number)
    let window = try wireQuery(of: request)
    let decision = services.access.decideRead(reading.path, query: window, in: namespaceName, as: caller)
    guard decision.isAllowed else {
      throw decision.isUnavailable ? .unavailable : denied(reading.path, query: window)
    }
    try checkIndex(of: request, reading: reading)
    let reader = services.database.reader
    let engine = services.database.engine
    switch reading.answer(engine, reader: reader, within: .brief) {
    case .some(let answer): reply(answer)
    case nil:
      isBlocked = true
      let reference = reference
      let isTaken = services.largeAnswers.submit(for: presence) { turn in
        let answer = turn == nil ? nil : reading.answer(engine, reader: reader, within: .standard)
        let text = answer ?? SocketAnswers.refused(reading.number, .tooMuch)
        reference.run { session in withExtendedLifetime(turn) { session.didRead(text) } }
      }
      guard isTaken else {
        isBlocked = false
        throw SocketError("unavailable", "Too many large reads wait already: try again in a few seconds, or ask for less.")
      }
    }
  }

  /// A listen is told to do without an index; a read is refused, as the hosted service does, also one of an order alone.
  private func checkIndex(of request: SocketRequest, reading: SocketReading) throws(SocketError) {
    guard let order = try wireQuery(of: request)?.order,
      !services.database.reader.isIndexed(order, at: reading.path, in: reading.namespace)
    else { return }
    throw .failure(services.missingIndex(order, at: reading.path, in: reading.namespace).message)
  }

  private func didRead(_ answer: [UInt8]) {
    guard isOpen else { return }
    isBlocked = false
    reply(answer)
    pump()
  }

  /// Refuses a read. The reasons, for callers who may know them, go in a message of their own, which clients print.
  func denied(_ path: Path, query: Query?) -> SocketError {
    if let reasons = services.access.reasons(ofDenying: caller, at: path, query: query, in: namespaceName) {
      reply(SocketAnswers.debug(reasons))
    }
    return .permissionDenied
  }

  /// The node that a read is about: never a priority alone.
  func path(of request: SocketRequest) throws(SocketError) -> Path {
    let target = try target(of: request)
    guard !target.isPriority else { throw .failure("A priority cannot be read by itself: read its node.") }
    return target.path
  }

  /// The window that a read is about; nil for the whole node: an order alone leaves nothing out.
  func query(of request: SocketRequest) throws(SocketError) -> Query? {
    try wireQuery(of: request).flatMap { $0.isUnfiltered ? nil : $0 }
  }

  /// The query as the client sent it; clients send one that leaves nothing out, too.
  func wireQuery(of request: SocketRequest) throws(SocketError) -> Query? {
    guard let wire = request.body["q"] else { return nil }
    do {
      return try Query(wire: wire)
    } catch {
      throw .failure(error.description)
    }
  }
}

/// A one-shot read, ready to be made on any thread.
struct SocketReading: Sendable {
  let path: Path
  let query: Query?
  let namespace: NamespaceID
  /// Of the request.
  let number: Int64

  /// - Returns: the whole message; nil if there is more to read than `bounds` allow.
  func answer(_ engine: any StorageEngine, reader: TreeReader, within bounds: ReadBounds) -> [UInt8]? {
    do throws(TreeReadError) {
      let node = try engine.read { (snapshot) throws(TreeReadError) -> TreeNode in
        guard let query else { return try reader.node(at: path, in: namespace, of: snapshot, within: bounds) }
        return try reader.result(of: query, at: path, in: namespace, of: snapshot, within: bounds).node
      }
      return SocketAnswers.ok(number, capacity: 256) { node.write(to: &$0, format: .export) }
    } catch {
      switch error {
      case .tooLarge: return nil
      case .stopped: return SocketAnswers.refused(number, .tooMuch)
      case .storage(let error): return SocketAnswers.refused(number, SocketError("unavailable", error.message))
      }
    }
  }
}
