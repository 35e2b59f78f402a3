import AdminModel
import HTTPServer
import PlayerLifecycle
import RewardModel
package import StorageCore
import TreeModel

/// One event whole: the row of the list, and what the list leaves out.
struct EventDetail {
  /// Leaves of before and of after that are shown; a larger node is cut, and the answer says so.
  static let leavesMax = 1000

  /// Outbox rows and events of effects that are shown.
  static let rowsMax = 200

  let event: EventRecord
  let namespace: NamespaceID
  let functions: [FunctionDescription]
  let snapshot: any Snapshot
  /// The run by hand that the event was made up for; nil for one that happened.
  let invocation: InvocationRecord?

  init(event: EventRecord, namespace: NamespaceID, functions: [FunctionDescription], snapshot: any Snapshot) {
    self.event = event
    self.namespace = namespace
    self.functions = functions
    self.snapshot = snapshot
    invocation = nil
  }

  /// An event that never happened, and that a function was given by hand.
  init(of invocation: InvocationRecord, namespace: NamespaceID, functions: [FunctionDescription], snapshot: any Snapshot) {
    let kind = EventRecord.Kind(invocation.before, invocation.after) ?? .updated
    event = EventRecord(namespace: namespace, id: invocation.event, kind: kind, hop: 0)
    self.namespace = namespace
    self.functions = functions
    self.snapshot = snapshot
    self.invocation = invocation
  }

  /// The event with its write, the functions whose pattern matched, the node before and after, what each run changed, the
  /// ledger entries and events that came of it, and its messages to the outside.
  func answer() throws -> AdminEvents.Detail {
    let commit = invocation == nil ? try snapshot.commit(in: namespace, at: event.id.revision) : nil
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let row = AdminEvents.Event(event, commit, executions, try snapshot.deliveries(in: namespace, of: event.id))
    let (before, after) = try values()
    var effects: [AdminEvents.Change] = []
    var entries: [AdminLedger.Entry] = []
    var children: [AdminEvents.Reference] = []
    for revision in Set(executions.compactMap(\.effect)).sorted() {
      effects += try changes(of: revision)
      entries += try snapshot.entries(in: namespace, of: revision, limit: 100).map { AdminLedger.Entry($0) }
      children += try self.children(of: revision)
    }
    return AdminEvents.Detail(
      id: row.id, kind: row.kind, path: row.path, revision: row.revision, hop: row.hop, time: row.time, actor: row.actor,
      requestID: row.requestID, cause: row.cause, executions: row.executions, deliveries: row.deliveries,
      invocation: invocation.map { AdminEvents.Invocation($0) }, before: before.node.jsonValue(.export),
      after: after.node.jsonValue(.export), erased: try erased(), cut: before.isCut || after.isCut ? true : nil,
      failures: try snapshot.failedAttempts(in: namespace, of: event.id, limit: Self.rowsMax)
        .map { AdminEvents.FailedAttempt($0) },
      matches: matches, write: Nullable(commit.map { AdminEvents.Commit($0, changesMax: 100) }), effects: effects,
      entries: entries, children: children, outbox: try outbox())
  }

  /// The erased path that the event is on; nil if before and after are known.
  private func erased() throws -> AdminEvents.ErasedPath? {
    guard invocation == nil, let path = event.id.path.path else { return nil }
    return try snapshot.erasedPath(in: namespace, around: path, asOf: event.id.revision).map { AdminEvents.ErasedPath($0) }
  }

  /// The registered functions whose pattern matches the path, with what it captures.
  private var matches: [AdminEvents.FunctionMatch] {
    guard let path = event.id.path.path else { return [] }
    return functions.compactMap { function in
      function.pattern.match(path).map { captures in
        AdminEvents.FunctionMatch(
          function: function.name, pattern: function.pattern.description,
          captures: NamedValues(captures.map { NamedValues.Member($0.name, $0.value) }), runsOn: function.runsOn)
      }
    }
  }

  /// The events that a commit of an effect caused.
  private func children(of revision: Revision) throws -> [AdminEvents.Reference] {
    try snapshot.events(in: namespace, after: EventPosition(revision: revision, path: nil), limit: Self.rowsMax)
      .filter { $0.id.revision == revision }
      .map { AdminEvents.Reference(id: $0.id.description, kind: AdminEvents.Kind($0.kind)) }
  }

  /// The messages that its runs asked for: their keys begin with the event's id.
  private func outbox() throws -> [AdminEvents.OutboxMessage] {
    var found: [AdminEvents.OutboxMessage] = []
    let prefix = "\(event.id)/"
    for state in OutboxRecord.State.allCases {
      let rows = try snapshot.outbox(in: namespace, state: state, after: prefix, limit: Self.rowsMax)
      found += rows.prefix { $0.key.hasPrefix(prefix) }.filter { $0.cause?.event == event.id }
        .map { AdminEvents.OutboxMessage($0) }
    }
    return found
  }

  private func values() throws -> (before: (node: TreeNode, isCut: Bool), after: (node: TreeNode, isCut: Bool)) {
    if let invocation { return ((invocation.before, false), (invocation.after, false)) }
    return (try node(asOf: event.id.revision.previous), try node(asOf: event.id.revision))
  }

  private func node(asOf revision: Revision) throws -> (node: TreeNode, isCut: Bool) {
    let path = event.id.path
    let leaves = try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: Self.leavesMax + 1)
    guard let node = TreeNode(leaves: leaves.prefix(Self.leavesMax).map(\.leaf), at: path) else {
      throw StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup.")
    }
    return (node, leaves.count > Self.leavesMax)
  }

  /// What the commit of an effect changed; empty once its payload is forgotten.
  private func changes(of revision: Revision) throws -> [AdminEvents.Change] {
    let changes = try snapshot.commit(in: namespace, at: revision)?.changes ?? []
    return changes.prefix(Self.leavesMax).map { AdminEvents.Change($0, revision: revision) }
  }
}

extension Snapshot {
  /// The run by hand that an event's id stands for; nil if it is none.
  package func invocation(in namespace: NamespaceID, of event: EventID) throws -> InvocationRecord? {
    guard event.epoch == 0, event.revision.rawValue < JSONSchema.countMax else { return nil }
    let found = try invocations(in: namespace, before: event.revision.rawValue + 1, limit: 1).first
    return found?.event == event ? found : nil
  }
}
