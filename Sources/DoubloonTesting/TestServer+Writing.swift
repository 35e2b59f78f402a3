import ServerApp
import StorageCore
import TreeDatabase
public import TreeModel
import Triggers

extension TestServer {
  /// Writes a value and waits until its effects are settled.
  @discardableResult
  public func set(_ place: some TestPlace, _ node: TreeNode, as writer: Writer = .admin) async throws -> TestWrite {
    try await write([.set(place.testPath(), node)], as: writer)
  }

  /// Writes several places at once.
  @discardableResult
  public func update(_ place: some TestPlace, _ children: [String: TreeNode], as writer: Writer = .admin) async throws
    -> TestWrite
  {
    let path = try place.testPath()
    let assignments = try children.map { child, node in
      WriteOperation.Assignment(path: path.appending(try child.testPath()), value: .node(WriteNode(node)))
    }
    return try await write([.update(path, assignments)], as: writer)
  }

  /// Adds to a number.
  @discardableResult
  public func increment(_ place: some TestPlace, by delta: Int64, as writer: Writer = .admin) async throws -> TestWrite {
    try await write([.set(place.testPath(), .increment(delta))], as: writer)
  }

  /// Removes what is at a path. Removing nothing is a mistake in the test, and throws.
  @discardableResult
  public func remove(_ place: some TestPlace, as writer: Writer = .admin) async throws -> TestWrite {
    let path = try place.testPath()
    guard try await node(path).exists else { throw TestServerError("There is nothing at \(path) to remove.") }
    return try await write([.remove(path)], as: writer)
  }

  /// Writes anything that a client could write, as one operation.
  @discardableResult
  public func write(_ operations: [WriteOperation], as writer: Writer = .admin, triggers: Bool = true) async throws -> TestWrite
  {
    var request = CommitRequest(namespace: namespace, actor: writer.actor, operations: operations)
    request.suppressesTriggers = !triggers
    let receipt = try await application.database.commit(request)
    try await application.settle()
    return try TestWrite(receipt, on: self)
  }

  /// Hands the events of a write to their functions again: as a crash before the note "done" would.
  public func redeliver(_ write: TestWrite, times: Int = 1) async throws {
    guard !write.events.isEmpty else {
      throw TestServerError("The write made no events: no registered pattern matched it. Check the path and the pattern.")
    }
    for _ in 0..<times {
      for event in write.events { try application.dispatcher.redeliver(event, in: namespace) }
      try await application.settle()
    }
  }
}
