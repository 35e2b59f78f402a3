import APISupport
import HTTPServer
import NIOCore
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

extension SocketSession {
  /// Answers a one-shot read. What takes long is read on another thread, and what comes behind it waits.
  func get(_ request: SocketRequest, in namespace: NamespaceID) throws(SocketRefusal) {
    let reading = SocketReading(
      path: try path(of: request), query: try query(of: request), namespace: namespace, number: request.number)
    let window = try wireQuery(of: request)
    guard services.access.judgeRead(reading.path, query: window, in: namespaceName, as: caller).isAllowed else {
      throw denied(reading.path, window)
    }
    try checkIndex(of: request, reading)
    let reader = services.database.reader
    let engine = services.database.engine
    switch reading.answer(engine, reader, within: .brief) {
    case .some(let answer): reply(answer)
    case nil:
      isBlocked = true
      let reference = reference
      services.largeAnswers.submit { turn in
        let answer = turn == nil ? nil : reading.answer(engine, reader, within: .standard)
        let text = answer ?? SocketAnswers.refused(reading.number, .tooMuch)
        reference.run { session in withExtendedLifetime(turn) { session.didRead(text) } }
      }
    }
  }

  /// A listen is told to do without an index; a read is refused, as the hosted service does, also one of an order alone.
  private func checkIndex(of request: SocketRequest, _ reading: SocketReading) throws(SocketRefusal) {
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

  /// The refusal of a read. Who may know why is told in a message of its own, which clients print.
  func denied(_ path: Path, _ query: Query?) -> SocketRefusal {
    if let reasons = services.access.reasons(ofDenying: caller, path, query: query, in: namespaceName) {
      reply(SocketAnswers.debug(reasons))
    }
    return .permissionDenied
  }

  /// The node that a read is about: never a priority alone.
  func path(of request: SocketRequest) throws(SocketRefusal) -> Path {
    let target = try target(of: request)
    guard !target.isPriority else { throw .failure("A priority cannot be read by itself: read its node.") }
    return target.path
  }

  /// The window that a read is about; nil for the whole node: an order alone leaves nothing out.
  func query(of request: SocketRequest) throws(SocketRefusal) -> Query? {
    try wireQuery(of: request).flatMap { $0.isUnfiltered ? nil : $0 }
  }

  /// The query as the client sent it; clients send one that leaves nothing out, too.
  func wireQuery(of request: SocketRequest) throws(SocketRefusal) -> Query? {
    guard let wire = request.body["q"] else { return nil }
    do {
      return try Query(wire: wire)
    } catch {
      throw .failure(error.description)
    }
  }
}
