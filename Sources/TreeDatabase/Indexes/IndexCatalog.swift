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
        do throws(RulesFault) {
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
