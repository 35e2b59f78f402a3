import ServerApp
public import StorageCore
import Triggers

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
    endings = try server.application.engine.read { (snapshot) throws(StorageError) in
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
