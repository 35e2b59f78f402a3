internal import RewardModel
internal import StorageCore
internal import TreeModel

/// What a batch has put into one namespace so far. Reads look here first.
///
/// A class, because a look-up in a dictionary of large values would copy the value first.
final class BatchOverlay {
  struct PendingLeaf {
    /// nil removes the leaf.
    var scalar: Scalar?
    var revision: Revision
    /// False once the put was taken back: the file's row counts again.
    var isLive = true
  }

  var nodes: [PathBytes: PendingLeaf] = [:]
  private var sortedPaths: [PathBytes] = []
  private var unsortedPaths: [PathBytes] = []
  var commits: [CommitRecord] = []
  var events: [EventRecord] = []
  var executions: [FunctionKey: ExecutionRecord] = [:]
  /// nil removes the delivery.
  var deliveries: [FunctionKey: DeliveryRecord?] = [:]
  var entries: [LedgerEntry] = []
  /// Places in ``entries``.
  var entryByKey: [ExactText: Int] = [:]
  var entryByReversal: [Int64: Int] = [:]
  var balances: [BalanceKey: Int64] = [:]
  var outbox: [ExactText: OutboxRecord] = [:]
  var idempotency: [ExactText: IdempotencyRecord] = [:]
  var rules: RulesRecord?
  /// nil removes the index.
  var indexes: [IndexID: IndexRecord?] = [:]
  /// Whether the place is taken.
  var places: [PlaceKey: Bool] = [:]
  /// Places to remove from the file: of which index, and how many.
  var removedPlaces: [(index: IndexID, limit: Int)] = []
  var settledRevision: Revision?
  var upkeep: [Upkeep] = []
  /// nil removes the row.
  var accountRows: [AccountRow.Key: AccountRow?] = [:]
  /// Changed records of rooms; nil removes one.
  var records: [RecordKey: String?] = [:]
  /// Whether the file's rows of this namespace were removed by the batch.
  var hidesStored = false

  func copy() -> BatchOverlay {
    let other = BatchOverlay()
    (other.nodes, other.sortedPaths, other.unsortedPaths) = (nodes, sortedPaths, unsortedPaths)
    (other.commits, other.events, other.executions, other.deliveries) = (commits, events, executions, deliveries)
    (other.entries, other.entryByKey, other.entryByReversal) = (entries, entryByKey, entryByReversal)
    (other.balances, other.outbox, other.idempotency) = (balances, outbox, idempotency)
    (other.rules, other.indexes, other.places, other.removedPlaces) = (rules, indexes, places, removedPlaces)
    other.accountRows = accountRows
    (other.settledRevision, other.hidesStored, other.upkeep) = (settledRevision, hidesStored, upkeep)
    other.records = records
    return other
  }

  /// Every path that the batch touched, in order; some may have been taken back.
  func paths() -> [PathBytes] {
    guard !unsortedPaths.isEmpty else { return sortedPaths }
    if unsortedPaths.count <= 16 {
      for path in unsortedPaths { sortedPaths.insert(path, at: sortedPaths.lowerBound { $0 < path }) }
    } else {
      sortedPaths.append(contentsOf: unsortedPaths)
      sortedPaths.sort()
    }
    unsortedPaths.removeAll(keepingCapacity: true)
    return sortedPaths
  }

  /// Notes a path that is new in ``nodes``.
  func addPath(_ path: PathBytes) {
    // An operation's leaves come in order, so they mostly go to the end.
    if unsortedPaths.isEmpty, sortedPaths.last.map({ $0 < path }) ?? true {
      sortedPaths.append(path)
    } else {
      unsortedPaths.append(path)
    }
  }

  func append(_ entry: LedgerEntry) {
    entryByKey[ExactText(entry.transfer.key.text)] = entries.count
    if let reverses = entry.transfer.reverses { entryByReversal[reverses] = entries.count }
    entries.append(entry)
  }

  func removeLastEntry() {
    let entry = entries.removeLast()
    entryByKey[ExactText(entry.transfer.key.text)] = nil
    if let reverses = entry.transfer.reverses { entryByReversal[reverses] = nil }
  }
}
