import ServerApp
public import StorageCore
import TreeDatabase
public import TreeModel
import Triggers

extension TestServer {
  /// Writes a value and waits until its effects are settled.
  @discardableResult
  public func set(_ treePath: some TestPath, _ node: TreeNode, as writer: Writer = .admin) async throws -> TestWrite {
    try await write([.set(treePath.testPath(), node)], as: writer)
  }

  /// Writes several paths at once.
  @discardableResult
  public func update(_ treePath: some TestPath, _ children: [String: TreeNode], as writer: Writer = .admin) async throws
    -> TestWrite
  {
    let path = try treePath.testPath()
    let assignments = try children.map { child, node in
      WriteOperation.Assignment(path: path.appending(try child.testPath()), value: .node(WriteNode(node)))
    }
    return try await write([.update(path, assignments)], as: writer)
  }

  /// Adds to a number.
  @discardableResult
  public func increment(_ treePath: some TestPath, by delta: Int64, as writer: Writer = .admin) async throws -> TestWrite {
    try await write([.set(treePath.testPath(), .increment(delta))], as: writer)
  }

  /// Removes what is at a path. Removing nothing is a mistake in the test, and throws.
  @discardableResult
  public func remove(_ treePath: some TestPath, as writer: Writer = .admin) async throws -> TestWrite {
    let path = try treePath.testPath()
    guard try await node(path).exists else { throw TestServerError("There is nothing at \(path) to remove.") }
    return try await write([.remove(path)], as: writer)
  }

  /// Writes anything that a client could write, as one operation.
  @discardableResult
  public func write(_ operations: [WriteOperation], as writer: Writer = .admin, triggers: Bool = true) async throws -> TestWrite
  {
    var request = CommitRequest(namespace: namespace, actor: writer.actor, operations: operations)
    request.triggers.areSuppressed = !triggers
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

/// A write, with what its functions made of it.
public struct TestWrite: Sendable {
  /// How a function ended with an event of the write.
  public enum Ending: Sendable, Hashable {
    case done
    case skipped(String)
    /// It failed and waits for its next attempt, or for a function that is paused.
    case waiting(String)
    case dead(String)
  }

  /// The tree's revision after the write; the one before if nothing changed.
  public let revision: Revision
  /// Whether the write changed the tree.
  public let changed: Bool
  public let events: [EventID]
  /// How each function ended, by name. A function that had several events of the write is not here: see ``endings``.
  public let outcomes: TestOutcomes
  /// How each function ended with each event.
  public let endings: [EventID: [String: Ending]]

  init(_ receipt: CommitReceipt, on server: TestServer) throws {
    revision = receipt.revision
    changed = receipt.changed
    events = receipt.events.map(\.id)
    let namespace = server.namespace
    let events = events
    endings = try server.application.engine.read { snapshot in
      var endings: [EventID: [String: Ending]] = [:]
      for event in events {
        var byFunction: [String: Ending] = [:]
        for execution in try snapshot.executions(in: namespace, of: event) {
          byFunction[execution.function] = execution.outcome == .done ? .done : .skipped(execution.shortReason)
        }
        for delivery in try snapshot.deliveries(in: namespace, of: event) {
          byFunction[delivery.function] = delivery.state == .dead ? .dead(delivery.lastError) : .waiting(delivery.lastError)
        }
        endings[event] = byFunction
      }
      return endings
    }
    var counts: [String: [Ending]] = [:]
    for byFunction in endings.values {
      for (function, ending) in byFunction { counts[function, default: []].append(ending) }
    }
    outcomes = TestOutcomes(
      counts.compactMapValues { $0.count == 1 ? $0[0] : nil }, becauseOf: Self.silence(receipt, on: server))
  }

  /// Why the write made no function run; nil if it made an event for one.
  private static func silence(_ receipt: CommitReceipt, on server: TestServer) -> String? {
    guard receipt.events.isEmpty else { return nil }
    let functions = server.application.dispatcher.functions
    guard !functions.isEmpty else {
      return "no function is registered; give TestServer.run the function that registers the game's"
    }
    guard receipt.changed else { return "the write changed nothing" }
    let known = functions.map { "\($0.name) (\($0.trigger) \($0.pattern), \($0.filter))" }.joined(separator: ", ")
    return "no function wants what the write changed; there are \(known)"
  }
}

extension ExecutionRecord {
  /// The reason's first word, by which it is known.
  var shortReason: String {
    String((reason ?? "").prefix { $0 != " " && $0 != ":" })
  }
}

/// A path that a test names: a text such as `"/users/bob/level"`, or a `Path`.
///
/// A text is read when it is used, so that an illegal one fails the test that uses it, and not, as a literal `Path` would,
/// the whole run.
public protocol TestPath: Sendable {
  /// The path; throws for a text that is none.
  func testPath() throws -> Path
}

extension String: TestPath {
  /// Reads the text.
  public func testPath() throws -> Path {
    do {
      return try Path(parsing: self)
    } catch {
      throw TestServerError("\"\(self)\" is no path: \(error)")
    }
  }
}

extension Path: TestPath {
  /// The path itself.
  public func testPath() throws -> Path { self }
}
