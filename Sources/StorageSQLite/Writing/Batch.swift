internal import RewardModel
internal import StorageCore
internal import TreeModel

/// Everything that was put since the last commit, and how to take it back.
///
/// Each put is a step. The staged tables remember what stood before each of their steps, so a rollback asks every table.
struct Batch {
  var overlays: [NamespaceID: BatchOverlay] = [:]
  var heads = StagedTable<NamespaceID, NamespaceHead>()
  var created: [NamespaceRecord] = []
  var removed: [NamespaceID] = []
  var functions = StagedTable<ExactText, FunctionRecord>()
  var audits = StagedLog<AuditRecord>()
  /// Answers in the file that expired at or before this time are forgotten.
  var idempotencyExpiry: Int64?
  /// Leaves in the overlays, those among them that were taken back.
  private(set) var pendingLeaves = 0
  /// How many steps were made that were not taken back.
  private(set) var position = 0
  /// The batch as it was before steps that change it at many places; few do.
  private var wholes: [(step: Int, batch: Batch)] = []

  var isEmpty: Bool { position == 0 }

  /// Begins a step; its number goes to the table that it changes.
  mutating func beginStep() -> Int {
    defer { position += 1 }
    return position
  }

  /// Makes one step in a namespace.
  mutating func stage(_ ns: NamespaceID, body: (_ rows: inout StagedRows, _ step: Int) -> Void) {
    let step = beginStep()
    body(&overlay(ns).rows, step)
  }

  /// The overlay of a namespace, for a put.
  mutating func overlay(_ ns: NamespaceID) -> BatchOverlay {
    if let overlay = overlays[ns] { return overlay }
    let overlay = BatchOverlay()
    overlays[ns] = overlay
    return overlay
  }

  mutating func setLeaf(_ scalar: Scalar?, at path: PathBytes, revision: Revision, in ns: NamespaceID) {
    let pending = StagedLeaves.PendingLeaf(scalar: scalar, revision: revision)
    let step = beginStep()
    if overlay(ns).rows.leaves.put(pending, at: path, step: step) { pendingLeaves += 1 }
  }

  /// Keeps the batch as it is, for a step that changes it at many places.
  mutating func recordWhole() {
    var copy = self
    copy.overlays = overlays.mapValues { BatchOverlay($0.rows) }
    wholes.append((beginStep(), copy))
  }

  mutating func rollback(to position: Int) {
    precondition(position <= self.position, "A mark is good until the batch was taken back beyond it, or committed.")
    if let whole = wholes.first(where: { $0.step >= position }) { self = whole.batch }
    for overlay in overlays.values { overlay.rows.rollback(to: position) }
    heads.rollback(to: position)
    functions.rollback(to: position)
    audits.rollback(to: position)
    self.position = position
  }
}

/// What a batch has put into one namespace so far. Reads look here first.
///
/// A class, because a look-up in a dictionary of large values would copy the value first.
final class BatchOverlay {
  var rows: StagedRows

  init(_ rows: StagedRows = StagedRows()) {
    self.rows = rows
  }
}

/// The staged rows of one namespace. A new table needs a property here and a line in ``rollback(to:)``.
struct StagedRows {
  var leaves = StagedLeaves()
  var commits = StagedLog<CommitRecord>()
  var events = StagedLog<EventRecord>()
  var executions = StagedTable<FunctionKey, ExecutionRecord>()
  var deliveries = StagedTable<FunctionKey, DeliveryRecord?>()
  private(set) var entries = StagedLog<LedgerEntry>()
  /// Positions in ``entries``.
  private var entryByKey: [ExactText: Int] = [:]
  private var entryByReversal: [Int64: Int] = [:]
  var balances = StagedTable<BalanceKey, Int64>()
  var outbox = StagedTable<ExactText, OutboxRecord>()
  var idempotency = StagedTable<ExactText, IdempotencyRecord>()
  /// The last one counts, as of ``settledRevisions``.
  var rules = StagedLog<RulesRecord>()
  var indexes = StagedTable<IndexID, IndexRecord?>()
  /// Whether the entry is there.
  var indexEntries = StagedTable<IndexEntryKey, Bool>()
  /// Entries to remove from the file: of which index, and how many.
  var removedIndexEntries = StagedLog<(index: IndexID, limit: Int)>()
  var settledRevisions = StagedLog<Revision>()
  var maintenance = StagedLog<Maintenance>()
  var accountRows = StagedTable<AccountRow.Key, AccountRow?>()
  var keyedRecords = StagedTable<RecordKey, String?>()
  /// Whether the file's rows of this namespace were removed by the batch.
  var hidesStored = false

  mutating func rollback(to step: Int) {
    leaves.rollback(to: step)
    commits.rollback(to: step)
    events.rollback(to: step)
    executions.rollback(to: step)
    deliveries.rollback(to: step)
    rollbackEntries(to: step)
    balances.rollback(to: step)
    outbox.rollback(to: step)
    idempotency.rollback(to: step)
    rules.rollback(to: step)
    indexes.rollback(to: step)
    indexEntries.rollback(to: step)
    removedIndexEntries.rollback(to: step)
    settledRevisions.rollback(to: step)
    maintenance.rollback(to: step)
    accountRows.rollback(to: step)
    keyedRecords.rollback(to: step)
  }

  // MARK: The ledger

  mutating func append(_ entry: LedgerEntry, step: Int) {
    entryByKey[ExactText(entry.transfer.key.text)] = entries.rows.count
    if let reverses = entry.transfer.reverses { entryByReversal[reverses] = entries.rows.count }
    entries.append(entry, step: step)
  }

  func entry(key: String) -> LedgerEntry? { entryByKey[ExactText(key)].map { entries.rows[$0] } }

  func reversal(of sequence: Int64) -> LedgerEntry? { entryByReversal[sequence].map { entries.rows[$0] } }

  private mutating func rollbackEntries(to step: Int) {
    while let entry = entries.removeLast(since: step) {
      entryByKey[ExactText(entry.transfer.key.text)] = nil
      if let reverses = entry.transfer.reverses { entryByReversal[reverses] = nil }
    }
  }
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

/// A keyed record.
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
