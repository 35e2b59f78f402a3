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
    try checkReading(reading.path)
    try checkIndex(of: request, reading)
    let reader = services.database.reader
    let engine = services.database.engine
    switch reading.answer(engine, reader, within: .brief) {
    case .some(let answer): reply(answer)
    case nil:
      isBlocked = true
      let reference = reference
      services.threadPool.submit { state in
        var answer: [UInt8]?
        if case .active = state { answer = reading.answer(engine, reader, within: .standard) }
        let text = answer ?? SocketAnswers.refused(reading.number, .tooMuch)
        reference.run { session in session.didRead(text) }
      }
    }
  }

  /// A listen is told to do without an index; a read is refused, as the hosted service does, also one of an order alone.
  private func checkIndex(of request: SocketRequest, _ reading: SocketReading) throws(SocketRefusal) {
    guard let order = try wireQuery(of: request)?.order,
      !services.database.reader.isIndexed(order, at: reading.path, in: reading.namespace)
    else { return }
    throw .failure(MissingIndex(order: order, path: reading.path).message)
  }

  private func didRead(_ answer: [UInt8]) {
    guard isOpen else { return }
    isBlocked = false
    reply(answer)
    pump()
  }

  func checkReading(_ path: Path) throws(SocketRefusal) {
    guard mayRead(path) else { throw .permissionDenied }
  }

  func mayRead(_ path: Path) -> Bool { services.access.mayRead(path, in: namespaceName, as: caller) }

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

  private func wireQuery(of request: SocketRequest) throws(SocketRefusal) -> Query? {
    guard let wire = request.body["q"] else { return nil }
    do {
      return try Query(wire: wire)
    } catch {
      throw .failure(error.description)
    }
  }
}
