public import AccessRules
public import StorageCore
import Synchronization
public import TreeModel

/// The rules of every namespace that has some, and the indexes that they declare: in memory, for the writer and for readers.
///
/// Changed when the batch with the new rules is told, while the writer may judge the next one: what is judged before keeps the
/// indexes of the rules before, and is seen by the building of the new ones, which begins after. Whether an index is ready is not known here but in the store, so that
/// a reader sees it as of its own snapshot.
public final class IndexCatalog: Sendable {
  private let namespaces = Mutex<[NamespaceID: NamespaceRules]>([:])
  private let hasIndexes = Atomic<Bool>(false)

  /// Reads what the store has.
  init(_ engine: any StorageEngine) throws(StorageError) {
    let found = try engine.read { (snapshot) throws(StorageError) in
      var found: [NamespaceID: NamespaceRules] = [:]
      for namespace in try snapshot.namespaces() {
        guard let record = try snapshot.rules(of: namespace.id) else { continue }
        let records = try snapshot.indexes(in: namespace.id)
        do throws(RulesError) {
          let rules = try RuleSet(stored: record.source)
          found[namespace.id] = NamespaceRules(record: record, rules: rules, records: records)
        } catch {
          throw StorageError(
            .damaged, "The stored rules of \(namespace.name) cannot be read (\(error)). Restore the last backup.")
        }
      }
      return found
    }
    namespaces.withLock { $0 = found }
    noteIndexes()
  }

  /// The rules file of a namespace, as it was uploaded; nil if there is none.
  public func source(of namespace: NamespaceID) -> RulesRecord? {
    rules(of: namespace)?.record
  }

  /// The rules of a namespace, read; nil if there are none.
  public func ruleSet(of namespace: NamespaceID) -> RuleSet? {
    rules(of: namespace)?.rules
  }

  /// Whether an order at a path needs no index, or has one by the rules.
  public func isIndexed(_ order: NodeOrder, at path: Path, in namespace: NamespaceID) -> Bool {
    order == .key || order == .priority || rules(of: namespace)?.declares(order, at: path) == true
  }

  func rules(of namespace: NamespaceID) -> NamespaceRules? {
    namespaces.withLock { $0[namespace] }
  }

  /// The indexes that a commit has to keep; nil if there are none, which costs one look at a flag where nobody has any.
  func indexes(of namespace: NamespaceID) -> [TreeIndex]? {
    guard hasIndexes.load(ordering: .relaxed), let rules = rules(of: namespace), !rules.indexes.isEmpty else { return nil }
    return rules.indexes
  }

  /// Takes over what is durable; nil forgets the namespace. Called in the order of the batches.
  func set(_ rules: NamespaceRules?, of namespace: NamespaceID) {
    namespaces.withLock { $0[namespace] = rules }
    noteIndexes()
  }

  private func noteIndexes() {
    let any = namespaces.withLock { $0.values.contains { !$0.indexes.isEmpty } }
    hasIndexes.store(any, ordering: .relaxed)
  }
}

/// The rules of a namespace, with the indexes that they declare.
final class NamespaceRules: Sendable {
  let record: RulesRecord
  let rules: RuleSet
  let indexes: [TreeIndex]

  /// - `records`: the indexes of the store; those that the rules do not declare are left out.
  init(record: RulesRecord, rules: RuleSet, records: [IndexRecord]) {
    self.record = record
    self.rules = rules
    indexes = rules.indexes.compactMap { declared in
      let found = records.first { record in record.state != .dropping && declared.isSame(as: record) }
      return found.map { TreeIndex(id: $0.id, pattern: declared.pattern, order: declared.order) }
    }
  }

  /// Whether the rules declare an index for the children of exactly this node.
  func declares(_ order: NodeOrder, at path: Path) -> Bool {
    rules.node(at: path)?.indexOn.contains(order) == true
  }

  /// The index for the children of exactly this node.
  func index(_ order: NodeOrder, at path: Path) -> TreeIndex? {
    guard let node = rules.node(at: path), node.indexOn.contains(order) else { return nil }
    return indexes.first { $0.order == order && $0.pattern == node.pattern }
  }
}

extension RuleSet.Index {
  /// Whether a stored index is this one: the name of a variable may have changed.
  func isSame(as record: IndexRecord) -> Bool {
    guard order.indexName.utf8.elementsEqual(record.order.utf8) else { return false }
    return pattern.shape.utf8.elementsEqual(Self.shape(of: record.pattern).utf8)
  }

  /// A stored pattern without the names of its variables. Keys never begin with `$`, nor hold a slash.
  private static func shape(of pattern: String) -> String {
    "/"
      + pattern.utf8.split(separator: UInt8(ascii: "/"))
      .map { $0.first == UInt8(ascii: "$") ? "$" : String(Substring($0)) }.joined(separator: "/")
  }
}

extension Database {
  /// Replaces the rules of a namespace, and adds them to their history. New indexes are built behind the writes; what the rules
  /// no longer declare is removed the same way.
  ///
  /// - `source`: the file.
  /// - `rules`: the file, read.
  /// - `change`: who does it, and on what condition.
  @discardableResult
  public func putRules(
    _ source: String, rules: RuleSet, in namespace: NamespaceID, as change: RulesChange = RulesChange(by: .system("rules"))
  ) async throws(CommitError) -> RulesOutcome {
    let result: Result<RulesOutcome, CommitError> = await withCheckedContinuation { continuation in
      putRules(source, rules: rules, in: namespace, as: change) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  func putRules(
    _ source: String, rules: RuleSet, in namespace: NamespaceID, as change: RulesChange = RulesChange(by: .system("rules")),
    completion: @escaping @Sendable (Result<RulesOutcome, CommitError>) -> Void
  ) {
    let replacement = RulesReplacement(source: source, rules: rules, namespace: namespace, change: change, time: clock.now())
    let done = Mutex<(outcome: RulesOutcome, rules: NamespaceRules?)?>(nil)
    run { (session) throws(StorageError) in
      let made = try replacement.make(in: session)
      done.withLock { $0 = made }
    } completion: { [catalog, indexBuilder] result in
      let done = done.withLock { $0 }
      // In this order: from there on every commit keeps the new indexes, and a step of building comes behind every request
      // that was judged without them.
      if case .success = result, let rules = done?.rules {
        catalog.set(rules, of: namespace)
        indexBuilder.schedule(namespace)
      }
      completion(
        result.flatMap {
          done.map { .success($0.outcome) } ?? .failure(CommitError(.unavailable, "The server is shutting down."))
        })
    }
  }

  /// Why the indexes of a namespace are not being built, if something went wrong.
  public func indexProblem(in namespace: NamespaceID) -> String? {
    indexBuilder.problem(in: namespace)
  }
}

/// Rules on their way into the store.
private struct RulesReplacement: Sendable {
  let source: String
  let rules: RuleSet
  let namespace: NamespaceID
  let change: RulesChange
  /// Milliseconds since 1970.
  let time: Int64

  /// Puts them into the batch, with their indexes and a version of the history; nothing where the condition does not hold, or
  /// where they hold already.
  func make(in session: any CommitSession) throws(StorageError) -> (outcome: RulesOutcome, rules: NamespaceRules?) {
    var history = try RulesHistory(of: namespace, in: session)
    let before = try session.rules(of: namespace)
    let current = before == nil ? nil : history.versions.last
    if let expected = change.ifHash, expected != current?.hash ?? RulesChange.none { return (.conflict(current), nil) }
    let hash = RulesHistory.hash(of: source)
    if let current, current.hash == hash { return (.unchanged(current), nil) }
    let version = RulesVersion(
      number: history.nextNumber, time: time, actor: change.actor.description, way: change.way, reason: change.reason,
      hash: hash,
      bytes: Int64(source.utf8.count), restores: change.restores)
    try history.add(version, source: source, of: namespace, in: session)
    let (records, last) = try placeIndexes(in: session, after: before?.lastIndex ?? 0)
    let record = RulesRecord(source: source, updatedAt: time, lastIndex: last)
    session.put(record, in: namespace)
    return (.replaced(version), NamespaceRules(record: record, rules: rules, records: records))
  }

  /// The indexes that the rules declare: those that are there already, and new ones.
  private func placeIndexes(in session: any CommitSession, after number: Int64) throws(StorageError)
    -> (records: [IndexRecord], last: Int64)
  {
    let known = try session.indexes(in: namespace)
    var last = number
    var records: [IndexRecord] = []
    for declared in rules.indexes {
      if let kept = known.first(where: { $0.state != .dropping && declared.isSame(as: $0) }) {
        records.append(kept)
      } else {
        last += 1
        records.append(
          IndexRecord(id: IndexID(rawValue: last), pattern: declared.pattern.description, order: declared.order.indexName))
        session.put(records[records.count - 1], in: namespace)
      }
    }
    for var record in known where record.state != .dropping && !records.contains(where: { $0.id == record.id }) {
      record.state = .dropping
      session.put(record, in: namespace)
    }
    return (records, last)
  }
}
