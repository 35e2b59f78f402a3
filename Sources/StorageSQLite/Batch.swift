internal import RewardModel
internal import StorageCore
internal import TreeModel

/// Everything that was put since the last commit, and how to take it back.
struct Batch {
  var overlays: [NamespaceID: BatchOverlay] = [:]
  var heads: [NamespaceID: NamespaceHead] = [:]
  var created: [NamespaceRecord] = []
  var removed: [NamespaceID] = []
  var functions: [ExactText: FunctionRecord] = [:]
  var audits: [AuditRecord] = []
  /// Answers in the file that expired at or before this time are forgotten.
  var idempotencyExpiry: Int64?
  private(set) var undo: [BatchUndo] = []
  /// Places of the tree in the overlays, those among them that were taken back.
  private(set) var pendingLeaves = 0

  var isEmpty: Bool { undo.isEmpty }
  var position: Int { undo.count }

  mutating func record(_ step: BatchUndo) {
    undo.append(step)
  }

  /// The overlay of a namespace, for a put.
  mutating func overlay(_ ns: NamespaceID) -> BatchOverlay {
    if let overlay = overlays[ns] { return overlay }
    let overlay = BatchOverlay()
    overlays[ns] = overlay
    return overlay
  }

  mutating func setLeaf(_ scalar: Scalar?, at path: PathBytes, revision: Revision, in ns: NamespaceID) {
    let pending = BatchOverlay.PendingLeaf(scalar: scalar, revision: revision)
    let overlay = overlay(ns)
    let before = overlay.nodes.updateValue(pending, forKey: path)
    if before == nil {
      overlay.addPath(path)
      pendingLeaves += 1
    }
    undo.append(.node(ns, path, before))
  }

  /// Keeps the batch as it is, for a step that changes it at many places.
  mutating func recordWhole() {
    var copy = self
    copy.overlays = overlays.mapValues { $0.copy() }
    undo.append(.whole(copy))
  }

  mutating func rollback(to position: Int) {
    precondition(position <= undo.count, "A mark is good until the batch was taken back beyond it, or committed.")
    while undo.count > position { takeBack(undo.removeLast()) }
  }

  private mutating func takeBack(_ step: BatchUndo) {
    switch step {
    case .node(let ns, let path, let before):
      // The path stays in the order of paths, without its value: a row that is not live is passed over.
      overlays[ns]?.nodes[path] = before ?? BatchOverlay.PendingLeaf(scalar: nil, revision: .zero, isLive: false)
    case .commit(let ns): overlays[ns]?.commits.removeLast()
    case .event(let ns): overlays[ns]?.events.removeLast()
    case .entry(let ns): overlays[ns]?.removeLastEntry()
    case .settled(let ns, let before): overlays[ns]?.settledRevision = before
    case .head(let ns, let before): heads[ns] = before
    case .audit: audits.removeLast()
    case .upkeep(let ns): overlays[ns]?.upkeep.removeLast()
    case .execution(let ns, let key, let before): overlays[ns]?.executions[key] = before
    case .delivery(let ns, let key, let before):
      if let before {
        overlays[ns]?.deliveries.updateValue(before, forKey: key)
      } else {
        overlays[ns]?.deliveries.removeValue(forKey: key)
      }
    case .balance(let ns, let key, let before): overlays[ns]?.balances[key] = before
    case .outbox(let ns, let key, let before): overlays[ns]?.outbox[key] = before
    case .idempotency(let ns, let key, let before): overlays[ns]?.idempotency[key] = before
    case .place(let ns, let key, let before): overlays[ns]?.places[key] = before
    case .index(let ns, let id, let before):
      if let before {
        overlays[ns]?.indexes.updateValue(before, forKey: id)
      } else {
        overlays[ns]?.indexes.removeValue(forKey: id)
      }
    case .accountRow(let ns, let key, let before):
      if let before {
        overlays[ns]?.accountRows.updateValue(before, forKey: key)
      } else {
        overlays[ns]?.accountRows.removeValue(forKey: key)
      }
    case .rules(let ns, let before): overlays[ns]?.rules = before
    case .record(let ns, let key, let before):
      if let before {
        overlays[ns]?.records.updateValue(before, forKey: key)
      } else {
        overlays[ns]?.records.removeValue(forKey: key)
      }
    case .removedPlaces(let ns): overlays[ns]?.removedPlaces.removeLast()
    case .function(let name, let before): functions[name] = before
    case .whole(let before): self = before
    }
  }
}

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
  var places: [IndexEntryKey: Bool] = [:]
  /// Places to remove from the file: of which index, and how many.
  var removedPlaces: [(index: IndexID, limit: Int)] = []
  var settledRevision: Revision?
  var upkeep: [Maintenance] = []
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

/// How one step of a batch is taken back.
enum BatchUndo {
  case node(NamespaceID, PathBytes, BatchOverlay.PendingLeaf?)
  case commit(NamespaceID)
  case event(NamespaceID)
  case entry(NamespaceID)
  case settled(NamespaceID, Revision?)
  case head(NamespaceID, NamespaceHead?)
  case audit
  case upkeep(NamespaceID)
  indirect case execution(NamespaceID, FunctionKey, ExecutionRecord?)
  indirect case delivery(NamespaceID, FunctionKey, DeliveryRecord??)
  indirect case balance(NamespaceID, BalanceKey, Int64?)
  indirect case outbox(NamespaceID, ExactText, OutboxRecord?)
  indirect case idempotency(NamespaceID, ExactText, IdempotencyRecord?)
  indirect case place(NamespaceID, IndexEntryKey, Bool?)
  indirect case index(NamespaceID, IndexID, IndexRecord??)
  indirect case rules(NamespaceID, RulesRecord?)
  indirect case accountRow(NamespaceID, AccountRow.Key, AccountRow??)
  case removedPlaces(NamespaceID)
  indirect case record(NamespaceID, RecordKey, String??)
  indirect case function(ExactText, FunctionRecord?)
  /// Rare steps that touch everything keep the whole batch as it was.
  indirect case whole(Batch)
}

/// An event and a function: what executions and deliveries are kept by.
struct FunctionKey: Hashable, Comparable {
  let event: EventID
  let function: ExactText

  init(_ event: EventID, _ function: String) {
    self.event = event
    self.function = ExactText(function)
  }

  static func < (a: FunctionKey, b: FunctionKey) -> Bool {
    if a.event.epoch != b.event.epoch { return a.event.epoch < b.event.epoch }
    if a.event.revision != b.event.revision { return a.event.revision < b.event.revision }
    return a.event.path == b.event.path ? a.function < b.function : a.event.path < b.event.path
  }
}

/// An account and a unit.
struct BalanceKey: Hashable, Comparable {
  let account: ExactText
  let unit: ExactText

  init(_ account: LedgerAccount, _ unit: String) {
    self.account = ExactText(account.name)
    self.unit = ExactText(unit)
  }

  static func < (a: BalanceKey, b: BalanceKey) -> Bool {
    a.account == b.account ? a.unit < b.unit : a.account < b.account
  }
}

/// A room's record.
struct RecordKey: Hashable, Comparable {
  let kind: ExactText
  let key: ExactText

  init(_ kind: String, _ key: String) {
    self.kind = ExactText(kind)
    self.key = ExactText(key)
  }

  static func < (a: RecordKey, b: RecordKey) -> Bool {
    a.kind == b.kind ? a.key < b.key : a.kind < b.kind
  }
}

/// A row of the table `index_place`, without its namespace.
struct IndexEntryKey: Hashable, Comparable {
  let index: IndexID
  let parent: PathBytes
  let place: IndexEntry

  static func < (a: IndexEntryKey, b: IndexEntryKey) -> Bool {
    if a.index != b.index { return a.index < b.index }
    return a.parent == b.parent ? a.place < b.place : a.parent < b.parent
  }
}

/// A text that is compared by its UTF-8 bytes, as SQLite does; `String` would merge texts that must stay apart.
struct ExactText: Hashable, Comparable {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  static func == (a: ExactText, b: ExactText) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = self.text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  static func < (a: ExactText, b: ExactText) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }
}
