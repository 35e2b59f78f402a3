public import RewardModel
public import TreeModel

/// The store as it is at one moment, for one synchronous look; any number of threads may have one.
///
/// Listings are in the order of their log and bounded: `limit` rows after (or, newest first, before) a position.
public protocol Snapshot: StorageReading, MaintenanceReading, AccountListing, KeyedRecordReading {
  var epoch: Int64 { get }
  func namespaces() throws(StorageError) -> [NamespaceRecord]

  /// The leaves and priorities from `lower` up to but without `upper`, in path order: at most `limit`, and none behind the one
  /// with which they are more than `bytesMax` bytes of paths and values.
  func leaves(in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, limit: Int, bytesMax: Int)
    throws(StorageError) -> [StoredLeaf]

  /// The leaves of a subtree as they were after the commit of `revision`.
  ///
  /// Undoes the later changes: those of recent commits from memory, older ones from the history.
  /// - Throws: ``StorageError/Code/unreadable`` if the log was pruned after that revision.
  func leaves(in namespace: NamespaceID, under path: PathBytes, asOf revision: Revision, limit: Int) throws(StorageError)
    -> [StoredLeaf]
  /// The commits that changed something at or below a path, newest first: those before `revision` (nil: all), at most
  /// `limit`. Looks at a bounded number of rows, and says how far it came.
  func touches(in namespace: NamespaceID, under path: PathBytes, before revision: Revision?, limit: Int) throws(StorageError)
    -> PathTouches
  /// The last commits up to `revision` that changed something at or below each of some paths, which are in order and lie apart.
  /// Of each at most `rowsMax` rows of the history are looked at; nil where that is not enough, and where none is remembered.
  func lastTouches(in namespace: NamespaceID, under paths: [PathBytes], through revision: Revision, rowsMax: Int)
    throws(StorageError) -> [Revision?]
  /// When a commit was made, in milliseconds since 1970, without reading what it changed; nil if there is none.
  func commitTime(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> Int64?
  /// The leaves from `lower` up to but without `upper` as they were after the commit of `revision`: at most `limit`, and none
  /// behind the one with which they are more than `bytesMax`. Looks at a bounded number of rows, whatever has become of them
  /// since, and says how far it came: always further than `lower`.
  func leaves(
    in namespace: NamespaceID, from lower: PathBytes, to upper: PathBytes, asOf revision: Revision, limit: Int, bytesMax: Int
  ) throws(StorageError) -> LeafStretch
  /// The last path before one at which something stands, or has been changed after `revision`: where to look for what stood
  /// there then.
  func lastPath(in namespace: NamespaceID, before path: PathBytes, since revision: Revision) throws(StorageError) -> PathBytes?
  /// The state of the tree at a moment: the last commit that is not later. Before what the log still holds it is the
  /// revision before the log's first.
  func revision(in namespace: NamespaceID, at time: Int64) throws(StorageError) -> Revision
  /// The children of a node by name, without reading what lies below them: one seek a child.
  func children(in namespace: NamespaceID, of path: PathBytes, after key: Key?, limit: Int) throws(StorageError) -> [Key]

  /// Up to this revision every event is settled or has a delivery record.
  func settledRevision(of namespace: NamespaceID) throws(StorageError) -> Revision
  func commits(in namespace: NamespaceID, after revision: Revision, limit: Int) throws(StorageError) -> [CommitRecord]
  /// Events after a position, oldest first; nil begins at the beginning. `revision` alone stands before its events.
  func events(in namespace: NamespaceID, after position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord]
  /// Events before a position, newest first; nil begins at the end.
  func events(in namespace: NamespaceID, before position: EventPosition?, limit: Int) throws(StorageError) -> [EventRecord]
  func event(in namespace: NamespaceID, id: EventID) throws(StorageError) -> EventRecord?
  func executions(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> [ExecutionRecord]
  func deliveries(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> [DeliveryRecord]
  /// Deliveries in one state, by function and event, after the one given.
  func deliveries(in namespace: NamespaceID, state: DeliveryRecord.State, after last: DeliveryRecord?, limit: Int)
    throws(StorageError) -> [DeliveryRecord]

  func entries(in namespace: NamespaceID, after sequence: Int64, limit: Int) throws(StorageError) -> [LedgerEntry]
  /// The entries before `sequence` (nil: from the last), newest first.
  func entries(in namespace: NamespaceID, before sequence: Int64?, limit: Int) throws(StorageError) -> [LedgerEntry]
  /// The entries of one account, newest first, before `sequence` (nil: from the last).
  func entries(in namespace: NamespaceID, account: LedgerAccount, before sequence: Int64?, limit: Int) throws(StorageError)
    -> [LedgerEntry]
  /// The entries of one account after `sequence`, oldest first.
  func entries(in namespace: NamespaceID, account: LedgerAccount, after sequence: Int64, limit: Int) throws(StorageError)
    -> [LedgerEntry]
  /// The accounts that have entries and whose names begin with `prefix`, by the bytes of their names, after the one given: one
  /// seek for each. The entries of each are counted up to `countMax`.
  func ledgerAccounts(
    in namespace: NamespaceID, prefix: String, after account: LedgerAccount?, limit: Int, countMax: Int
  ) throws(StorageError) -> [LedgerAccountRow]
  /// The accounts that the ledger alone keeps.
  func balances(in namespace: NamespaceID) throws(StorageError) -> [AccountBalance]

  func index(in namespace: NamespaceID, id: IndexID) throws(StorageError) -> IndexRecord?
  /// The places that an index has for the children of one node, from `lower` up to but without `upper`, first to last or last
  /// to first, at most `limit`.
  func indexEntries(
    in namespace: NamespaceID, of index: IndexID, below parent: PathBytes, from lower: IndexEntry, to upper: IndexEntry,
    isDescending: Bool, limit: Int
  ) throws(StorageError) -> [IndexEntry]

  func outbox(in namespace: NamespaceID, state: OutboxRecord.State, after key: String?, limit: Int) throws(StorageError)
    -> [OutboxRecord]
  func functions() throws(StorageError) -> [FunctionRecord]
  /// Newest first, with their places in the log, before the one given; nil begins at the end.
  func audits(before position: Int64?, limit: Int) throws(StorageError) -> [(position: Int64, record: AuditRecord)]
}

extension Snapshot {
  /// The last revision that was committed before a time (in milliseconds since 1970); zero if none was.
  ///
  /// Times never go back within a namespace, so it is found by halving.
  public func lastRevision(in namespace: NamespaceID, before time: Int64) throws(StorageError) -> Revision {
    var low: Int64 = 1
    var high = try head(of: namespace).revision.rawValue + 1
    while low < high {
      let middle = low + (high - low) / 2
      guard let found = try commitTime(in: namespace, at: Revision(middle)) else {
        throw StorageError(.damaged, "Commit \(middle) is missing. Run \"doubloon log verify\", or restore a backup.")
      }
      if found < time { low = middle + 1 } else { high = middle }
    }
    return Revision(low - 1)
  }
}

/// A stored leaf or priority, with the revision of its last change.
public struct StoredLeaf: Sendable, Hashable {
  public let leaf: Leaf
  /// The commit that wrote it last.
  public let revision: Revision

  public init(leaf: Leaf, revision: Revision) {
    self.leaf = leaf
    self.revision = revision
  }
}

/// The leaves of a stretch of the tree, and how far it goes.
public struct LeafStretch: Sendable, Hashable {
  /// In path order.
  public let leaves: [StoredLeaf]
  /// There are no others up to here; of what is here and behind it nothing is said.
  public let end: PathBytes

  public init(leaves: [StoredLeaf], end: PathBytes) {
    self.leaves = leaves
    self.end = end
  }
}

/// Which commits touched a place, as far as it was looked.
public struct PathTouches: Sendable, Hashable {
  /// Newest first, each once.
  public let revisions: [Revision]
  /// Every commit from this one on was looked at; what touched the place before it is found by asking again.
  public let scannedThrough: Revision
  /// Whether that was the beginning of what the log remembers.
  public let isComplete: Bool
  /// Up to here the past was forgotten; zero if nothing was.
  public let prunedThrough: Revision

  public init(revisions: [Revision], scannedThrough: Revision, isComplete: Bool, prunedThrough: Revision) {
    self.revisions = revisions
    self.scannedThrough = scannedThrough
    self.isComplete = isComplete
    self.prunedThrough = prunedThrough
  }
}

/// An account of the ledger, as far as the ledger's own tables know it.
public struct LedgerAccountRow: Sendable, Hashable {
  /// Its name.
  public let account: LedgerAccount
  /// How many entries it has, on either side, as far as they were counted.
  public let entryCount: Int
  /// What the ledger alone keeps, by unit; balances of a currency's holder are in the tree.
  public let balances: [AccountBalance]

  public init(account: LedgerAccount, entryCount: Int, balances: [AccountBalance]) {
    self.account = account
    self.entryCount = entryCount
    self.balances = balances
  }
}

/// The balance of a ledger account in one unit.
public struct AccountBalance: Sendable, Hashable {
  /// Whose balance.
  public let account: LedgerAccount
  /// The currency, such as `pieces_of_eight`.
  public let unit: String
  /// In minor units; below zero where coins come from.
  public let balance: Int64

  public init(account: LedgerAccount, unit: String, balance: Int64) {
    self.account = account
    self.unit = unit
    self.balance = balance
  }
}
