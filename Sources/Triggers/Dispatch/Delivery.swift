import FunctionsKit
import StorageCore
import TreeModel

/// An event on its way to one function.
struct Delivery: Sendable {
  let facts: EventFacts
  /// The function's position in the table.
  let function: Int
  /// What the function's pattern captures; nil if it does not match any more.
  let captures: [String]?
  /// Whom it waits for; nil for a function without order.
  let orderingKey: OrderingKey?
  /// The revision of the client's write at the beginning of the chain of causes, as far as it is known.
  var root: Revision
  var attempts = 0
  var crashes = 0
  /// Whether there is a delivery record, which the end of the work removes.
  var isStored = false
  /// Whether a person, or a replay, has it run again.
  var isAgain = false
  /// Whether it is known that the function has handled the event.
  var isHandled = false
  /// Whether the event holds back the settled revision.
  var isUnsettled = false
  /// How often the run was repeated because a value that it had read was stale.
  var reruns = 0
  /// Whether its last run had payments that are left out if they were made before.
  var leavesOutPaid = false
  /// How often the writer's queue was full.
  var postponements = 0
  /// The key that has gone on while the record of this run is on its way; nil for any other.
  var passedKey: OrderingKey?
  /// The slot of the crash note, while there is one.
  var noteSlot: Int?

  init(_ facts: EventFacts, to function: Int, of definition: FunctionDefinition, root: Revision) {
    let captures = definition.pattern.match(facts.path)?.map(\.value)
    self.init(
      facts, to: function, captures: captures,
      orderingKey: OrderingKey(function, definition, in: facts.namespace, captures: captures), root: root)
  }

  /// The same, of which captures and key are known.
  init(_ facts: EventFacts, to function: Int, captures: [String]?, orderingKey: OrderingKey?, root: Revision) {
    self.facts = facts
    self.function = function
    self.captures = captures
    self.orderingKey = orderingKey
    self.root = root
  }

  /// The same delivery under another ordering key.
  init(_ other: Delivery, orderingKey: OrderingKey?) {
    facts = other.facts
    function = other.function
    captures = other.captures
    root = other.root
    attempts = other.attempts
    crashes = other.crashes
    isStored = other.isStored
    isAgain = other.isAgain
    isHandled = other.isHandled
    isUnsettled = other.isUnsettled
    noteSlot = other.noteSlot
    self.orderingKey = orderingKey
  }

  /// Whether it comes later than the event: newer data may stand where it would write (see ``LateWrites``).
  var isLate: Bool { isStored || isAgain }
  var event: EventID { facts.record.id }
  var namespace: NamespaceID { facts.namespace }

  /// The delivery as storage keeps it.
  func record(
    _ state: DeliveryRecord.State, function: String, nextAttemptAt: Int64 = 0, lastError: String, at now: Int64
  ) -> DeliveryRecord {
    DeliveryRecord(
      event: event, kind: facts.record.kind, hop: facts.record.hop, function: function, state: state, attempts: attempts,
      crashes: crashes, nextAttemptAt: nextAttemptAt, lastError: lastError, updatedAt: now)
  }
}

/// The order key of a delivery: events with the same one wait for each other.
struct OrderingKey: Hashable, Sendable {
  let function: Int
  let namespace: NamespaceID
  /// The first capture, compared by its bytes; empty if the pattern has none.
  let capture: Key

  /// nil for a function without order.
  init?(_ function: Int, _ definition: FunctionDefinition, in namespace: NamespaceID, captures: [String]?) {
    guard definition.options.order == .perKey else { return nil }
    self.init(function: function, namespace: namespace, capture: Key(unchecked: captures?.first ?? ""))
  }

  init(function: Int, namespace: NamespaceID, capture: Key) {
    self.function = function
    self.namespace = namespace
    self.capture = capture
  }
}

/// An event in memory, shared by the functions that want it.
final class EventFacts: Sendable {
  /// What is known of the event's commit.
  struct Commit: Sendable {
    let time: Int64
    let actor: Actor
    /// What the commit changed, sorted by path; nil once the log has forgotten it.
    let changes: [LeafChange]?
  }

  let record: EventRecord
  let path: Path
  /// The event's id as text.
  let text: String
  /// The commit, as the writer handed it over; nil if it is to be read from the log when the event is run.
  let commit: Commit?

  init(record: EventRecord, path: Path, commit: Commit?) {
    self.record = record
    self.path = path
    self.commit = commit
    text = "\(record.id.epoch)-\(record.id.revision):\(path)"
  }

  var namespace: NamespaceID { record.namespace }
  var revision: Revision { record.id.revision }
}

extension [LeafChange] {
  /// The change of the leaf at exactly `path`; the changes are sorted by path.
  func change(at path: PathBytes) -> LeafChange? {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if self[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && self[low].path == path ? self[low] : nil
  }
}

/// An event as it was found in storage, with what became of it so far.
struct LoadedEvent: Sendable {
  let facts: EventFacts
  /// The change of the leaf at exactly the event's path.
  let change: LeafChange?
  /// The revision whose event's function wrote the commit.
  let parent: Revision?
  /// The functions that have handled it, or have a delivery record for it.
  let known: Set<String>

  /// The registered functions among those.
  func handled(by table: TriggerTable) -> [Int] { known.compactMap { table.position(of: $0) } }

  /// Reads one event, with the functions that have handled it, and with its delivery records; nil if there is none.
  static func one(_ id: EventID, in namespace: NamespaceID, from snapshot: any Snapshot) throws(StorageError)
    -> (event: LoadedEvent, deliveries: [DeliveryRecord])?
  {
    guard let record = try snapshot.event(in: namespace, id: id), let path = id.path.path else { return nil }
    let commit = try snapshot.commit(in: namespace, at: id.revision)
    let event = LoadedEvent(
      facts: EventFacts(record: record, path: path, commit: nil), change: commit?.changes?.change(at: id.path),
      parent: commit?.cause?.parent,
      known: Set(try snapshot.executions(in: namespace, of: id).map(\.function)))
    return (event, try snapshot.deliveries(in: namespace, of: id))
  }

  /// Reads a page of a namespace's events.
  static func page(
    of namespace: NamespaceID, after position: EventPosition, limit: Int, from snapshot: any Snapshot
  ) throws(StorageError) -> [LoadedEvent] {
    var page: [LoadedEvent] = []
    var commit: CommitRecord?
    for event in try snapshot.events(in: namespace, after: position, limit: limit) {
      guard let path = event.id.path.path else {
        throw StorageError(.damaged, "The path of event \(event.id) cannot be read; verify the data, or restore a backup.")
      }
      if commit?.revision != event.id.revision { commit = try snapshot.commit(in: namespace, at: event.id.revision) }
      let executions = try snapshot.executions(in: namespace, of: event.id).map(\.function)
      let deliveries = try snapshot.deliveries(in: namespace, of: event.id).map(\.function)
      page.append(
        LoadedEvent(
          // The commit is read again when the event is run: a page of large commits must not fill the memory.
          facts: EventFacts(record: event, path: path, commit: nil), change: commit?.changes?.change(at: event.id.path),
          parent: commit?.cause?.parent, known: Set(executions).union(deliveries)))
    }
    return page
  }
}

/// The events of one commit, as the writer hands them over.
struct CommittedEvents: Sendable {
  let namespace: NamespaceID
  let events: [EventRecord]
  let commit: EventFacts.Commit
  /// The revision whose event's function wrote this commit; nil for everybody else's.
  let parent: Revision?
}
