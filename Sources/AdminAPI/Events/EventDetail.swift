import HTTPServer
import RewardModel
package import StorageCore
import PlayerLifecycle
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

  /// The row, with the write, the functions whose pattern matched, the node before and after, what each run changed, the
  /// ledger entries and events that came of it, and its messages to the outside.
  func json() throws(StorageError) -> JSON {
    let commit = invocation == nil ? try snapshot.commit(in: namespace, at: event.id.revision) : nil
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let deliveries = try snapshot.deliveries(in: namespace, of: event.id)
    guard case .object(var members) = EventListing.row(event, commit, executions, deliveries) else { return .null }
    let (before, after) = try values()
    if let invocation { members.append(.init(key: "invocation", value: JSON(invocation))) }
    members += [
      .init(key: "before", value: before.node.jsonValue(.export)), .init(key: "after", value: after.node.jsonValue(.export)),
    ]
    if invocation == nil, let path = event.id.path.path,
      let place = try snapshot.erasedPath(in: namespace, around: path, asOf: event.id.revision)
    {
      members.append(.init(key: "erased", value: place.json))
    }
    if before.isCut || after.isCut { members.append(.init(key: "cut", value: .bool(true))) }
    let failures = try snapshot.failedAttempts(in: namespace, of: event.id, limit: Self.rowsMax)
    members += [
      .init(key: "failures", value: .array(failures.map(JSON.init))),
      .init(key: "matches", value: .array(matches)),
      .init(key: "write", value: commit.map { CommitRow($0, changesMax: 100).json } ?? .null),
    ]
    var effects: [JSON] = []
    var entries: [JSON] = []
    var children: [JSON] = []
    for revision in Set(executions.compactMap(\.effect)).sorted() {
      effects += try changes(of: revision)
      entries += try snapshot.entries(in: namespace, of: revision, limit: 100).map(JSON.init)
      children += try self.children(of: revision)
    }
    members += [
      .init(key: "effects", value: .array(effects)), .init(key: "entries", value: .array(entries)),
      .init(key: "children", value: .array(children)), .init(key: "outbox", value: .array(try outbox())),
    ]
    return .object(members)
  }

  /// The registered functions whose pattern matches the path, with what it captures.
  private var matches: [JSON] {
    guard let path = event.id.path.path else { return [] }
    return functions.compactMap { function in
      function.pattern.match(path).map { captures in
        .record([
          ("function", .string(function.name)), ("pattern", .string(function.pattern.description)),
          ("captures", .object(captures.map { .init(key: $0.name, value: .string($0.value)) })),
          ("runsOn", .string(function.runsOn)),
        ])
      }
    }
  }

  /// The events that a commit of an effect caused.
  private func children(of revision: Revision) throws(StorageError) -> [JSON] {
    try snapshot.events(in: namespace, after: EventPosition(revision: revision, path: nil), limit: Self.rowsMax)
      .filter { $0.id.revision == revision }
      .map { ["id": .string($0.id.description), "kind": .string($0.kind.rawValue)] }
  }

  /// The messages that its runs asked for: their keys begin with the event's id.
  private func outbox() throws(StorageError) -> [JSON] {
    var found: [JSON] = []
    let prefix = "\(event.id)/"
    for state in OutboxRecord.State.allCases {
      let rows = try snapshot.outbox(in: namespace, state: state, after: prefix, limit: Self.rowsMax)
      found += rows.prefix { $0.key.hasPrefix(prefix) }.filter { $0.cause?.event == event.id }.map(JSON.init)
    }
    return found
  }

  private func values() throws(StorageError) -> (before: (node: TreeNode, isCut: Bool), after: (node: TreeNode, isCut: Bool)) {
    if let invocation { return ((invocation.before, false), (invocation.after, false)) }
    return (try node(asOf: event.id.revision.previous), try node(asOf: event.id.revision))
  }

  private func node(asOf revision: Revision) throws(StorageError) -> (node: TreeNode, isCut: Bool) {
    let path = event.id.path
    let leaves = try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: Self.leavesMax + 1)
    guard let node = TreeNode(leaves: leaves.prefix(Self.leavesMax).map(\.leaf), at: path) else {
      throw StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup.")
    }
    return (node, leaves.count > Self.leavesMax)
  }

  /// What the commit of an effect changed; empty once its payload is forgotten.
  private func changes(of revision: Revision) throws(StorageError) -> [JSON] {
    let changes = try snapshot.commit(in: namespace, at: revision)?.changes ?? []
    return changes.prefix(Self.leavesMax).map { change in
      .object((JSON(change).object ?? []) + [.init(key: "revision", value: .int(revision.rawValue))])
    }
  }
}

extension Snapshot {
  /// The run by hand that an event's id stands for; nil if it is none.
  package func invocation(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> InvocationRecord? {
    guard event.epoch == 0, event.revision.rawValue < JSONSchema.countMax else { return nil }
    let found = try invocations(in: namespace, before: event.revision.rawValue + 1, limit: 1).first
    return found?.event == event ? found : nil
  }
}
