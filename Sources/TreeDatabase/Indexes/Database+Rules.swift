public import AccessRules
public import StorageCore
import Synchronization
import TreeModel

extension Database {
  /// Replaces the rules of a namespace. New indexes are built behind the writes; what the rules no longer declare is
  /// removed the same way.
  ///
  /// - Parameters:
  ///   - source: the file.
  ///   - rules: the file, read.
  public func putRules(_ source: String, _ rules: RuleSet, in namespace: NamespaceID) async throws(CommitRefusal) {
    let result: Result<Void, CommitRefusal> = await withCheckedContinuation { continuation in
      putRules(source, rules, in: namespace) { continuation.resume(returning: $0) }
    }
    try result.get()
  }

  func putRules(
    _ source: String, _ rules: RuleSet, in namespace: NamespaceID,
    completion: @escaping @Sendable (Result<Void, CommitRefusal>) -> Void
  ) {
    let time = clock.now()
    let committed = Mutex<NamespaceRules?>(nil)
    run { (session) throws(StorageError) in
      let known = try session.indexes(in: namespace)
      var last = try session.rules(of: namespace)?.lastIndex ?? 0
      var records: [IndexRecord] = []
      for declared in rules.indexes {
        if let kept = known.first(where: { $0.state != .dropping && declared.isSame(as: $0) }) {
          records.append(kept)
        } else {
          last += 1
          records.append(
            IndexRecord(
              id: IndexID(rawValue: last), pattern: declared.pattern.description, order: declared.order.indexName))
          session.put(records[records.count - 1], in: namespace)
        }
      }
      for var record in known where record.state != .dropping && !records.contains(where: { $0.id == record.id }) {
        record.state = .dropping
        session.put(record, in: namespace)
      }
      let record = RulesRecord(source: source, updatedAt: time, lastIndex: last)
      session.put(record, in: namespace)
      committed.withLock { $0 = NamespaceRules(record: record, rules: rules, records: records) }
    } completion: { [catalog, keeper] result in
      // On the writer, and before its next batch: from there on every commit keeps the new indexes, and building finds what
      // was there before.
      if case .success = result {
        catalog.set(committed.withLock { $0 }, of: namespace)
        keeper.tend(namespace)
      }
      completion(result)
    }
  }

  /// Why the indexes of a namespace are not being built, if something went wrong.
  public func indexProblem(in namespace: NamespaceID) -> String? {
    keeper.problem(in: namespace)
  }
}
