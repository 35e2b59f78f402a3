import RewardModel
public import StorageCore
import TreeModel

/// Rebuilds a namespace in a fresh store from its recorded commits: the last checkpoint, or the empty tree, with every
/// change after it; every entry posted again on the balances so far; every execution. Whatever functions do today has no
/// part in it. What comes out must have the canonical hash of the store.
public struct StoreRebuild {
  private static let commitsPerBatch = 256
  private static let rowsPerBatch = 1000

  private let source: any Snapshot
  private let namespace: NamespaceID
  private let session: any WriteSession
  private let target: NamespaceID
  private var report = RebuildReport()

  /// Builds, and compares.
  ///
  /// - `source`: one look at the store; the whole rebuild goes by it.
  /// - `engine`: an empty store.
  public static func run(_ name: String, from source: any Snapshot, into engine: any StorageEngine) throws(StorageError)
    -> RebuildReport
  {
    guard let namespace = try source.namespaces().first(where: { $0.name == name }) else { return RebuildReport() }
    let session = try engine.makeWriteSession()
    guard let target = try session.namespace(named: name, creatingAt: namespace.createdAt) else {
      throw StorageError(.failed, "The fresh store has no namespace; choose an empty folder.")
    }
    var rebuild = StoreRebuild(source: source, namespace: namespace.id, session: session, target: target)
    try rebuild.applyCheckpoint()
    try rebuild.applyCommits()
    try rebuild.postEntries()
    try rebuild.copyExecutions()
    try session.commit()
    rebuild.report.recorded = try CanonicalHash.of(namespace.id, in: source)
    rebuild.report.rebuilt = try engine.read { (snapshot) throws(StorageError) in
      try CanonicalHash.of(target, in: snapshot)
    }
    return rebuild.report
  }

  private init(source: any Snapshot, namespace: NamespaceID, session: any WriteSession, target: NamespaceID) {
    self.source = source
    self.namespace = namespace
    self.session = session
    self.target = target
  }

  // MARK: The tree

  private mutating func applyCheckpoint() throws(StorageError) {
    guard let checkpoint = try source.checkpoint(of: namespace) else { return }
    report.checkpoint = checkpoint.revision
    var hash = TreeHash()
    var last: PathBytes?
    while true {
      let page = try source.checkpointLeaves(
        in: namespace, of: checkpoint.revision, after: last, limit: Self.rowsPerBatch)
      for leaf in page {
        hash.add(leaf)
        session.setLeaf(leaf.scalar, at: leaf.path, revision: checkpoint.revision, in: target)
      }
      var maintenance = Maintenance()
      maintenance.checkpointLeaves = (checkpoint.revision, page)
      session.put(maintenance, in: target)
      try session.commit()
      last = page.last?.path
      if page.count < Self.rowsPerBatch { break }
    }
    // What was built counts as pruned like its source: the changes before are not there.
    var maintenance = Maintenance()
    maintenance.checkpoint = checkpoint
    session.put(maintenance, in: target)
    try session.commit()
    if hash.finalized() != checkpoint.treeHash {
      report.note(checkpoint.revision, "The checkpoint of commit \(checkpoint.revision) is not what was written.")
    }
  }

  private mutating func applyCommits() throws(StorageError) {
    var previous: CommitRecord?
    while true {
      let page = try source.commits(in: namespace, after: previous?.revision ?? .zero, limit: Self.commitsPerBatch)
      for commit in page {
        if !commit.verify(after: previous) {
          report.note(commit.revision, "Commit \(commit.revision) does not follow on the one before it.")
        }
        try apply(commit)
        previous = commit
      }
      try session.commit()
      if page.count < Self.commitsPerBatch { return }
    }
  }

  private mutating func apply(_ commit: CommitRecord) throws(StorageError) {
    report.through = commit.revision
    if commit.revision > report.checkpoint {
      report.commits += 1
      guard let changes = commit.changes else {
        return report.note(commit.revision, "The changes of commit \(commit.revision) are missing.")
      }
      // Accounts are no part of what is rebuilt: their records are rows beside the log.
      for change in changes where !change.path.isAccounts {
        let before = try session.leaf(in: target, at: change.path)?.leaf.scalar
        if before != change.before {
          let pathText = change.path.path?.description ?? "?"
          report.note(commit.revision, "Commit \(commit.revision) changes \(pathText), but its value before was another one.")
        }
        session.setLeaf(change.after, at: change.path, revision: commit.revision, in: target)
      }
    }
    session.append(
      CommitRecord(
        namespace: target, epoch: commit.epoch, revision: commit.revision, time: commit.time, actor: commit.actor,
        requestID: commit.requestID, cause: commit.cause, suppressesTriggers: commit.suppressesTriggers,
        changes: commit.changes, erased: commit.erased, digest: commit.digest, hash: commit.hash))
    var head = try session.head(of: target)
    head.revision = commit.revision
    head.time = commit.time
    head.commitHash = commit.hash
    session.setHead(head, of: target)
  }

  // MARK: The ledger

  private mutating func postEntries() throws(StorageError) {
    var balances: [LedgerAccount: [String: Int64]] = [:]
    var previous: LedgerEntry?
    while true {
      let page = try source.entries(in: namespace, after: previous?.sequence ?? 0, limit: Self.rowsPerBatch)
      for entry in page {
        let posted = post(entry, after: previous, on: &balances)
        session.append(posted, in: target)
        report.entries += 1
        previous = posted
      }
      var head = try session.head(of: target)
      head.entrySequence = previous?.sequence ?? 0
      head.entryHash = previous?.hash ?? NamespaceHead.genesisHash
      session.setHead(head, of: target)
      try session.commit()
      if page.count < Self.rowsPerBatch { break }
    }
    for stored in try source.balances(in: namespace) {
      let balance = balances[stored.account]?[stored.unit] ?? 0
      if balance != stored.balance {
        report.note(nil, "\(stored.account) should have \(balance) \(stored.unit), and has \(stored.balance).")
      }
      session.setBalance(balance, of: stored.account, unit: stored.unit, in: target)
    }
  }

  /// The entry as posting the same transfer makes it: with balances and hash of its own.
  private mutating func post(
    _ entry: LedgerEntry, after previous: LedgerEntry?, on balances: inout [LedgerAccount: [String: Int64]]
  ) -> LedgerEntry {
    let transfer = entry.transfer
    balances[transfer.debit, default: [:]][transfer.unit, default: 0] &-= transfer.amount
    balances[transfer.credit, default: [:]][transfer.unit, default: 0] &+= transfer.amount
    let posted = LedgerEntry(
      sequence: (previous?.sequence ?? 0) + 1, revision: entry.revision, time: entry.time, transfer: transfer,
      debitAfter: balances[transfer.debit]?[transfer.unit] ?? 0,
      creditAfter: balances[transfer.credit]?[transfer.unit] ?? 0,
      previousHash: previous?.hash ?? NamespaceHead.genesisHash)
    if posted.hash != entry.hash {
      report.note(
        Revision(entry.revision), "Ledger entry \(entry.sequence) is not what posting its transfer again makes.")
    }
    return posted
  }

  private mutating func copyExecutions() throws(StorageError) {
    var last: ReplayItem?
    while true {
      let page = try source.executions(in: namespace, after: last, limit: Self.rowsPerBatch)
      for execution in page { session.put(execution, in: target) }
      try session.commit()
      report.executions += Int64(page.count)
      last = page.last.map { ReplayItem(event: $0.event, function: $0.function) }
      if page.count < Self.rowsPerBatch { return }
    }
  }
}

/// The result of rebuilding a store from the recorded commits.
public struct RebuildReport: Sendable, Hashable {
  /// The last revision.
  public internal(set) var through = Revision.zero
  /// The checkpoint that was begun with; zero if with the empty tree.
  public internal(set) var checkpoint = Revision.zero
  /// Commits that were applied.
  public internal(set) var commits: Int64 = 0
  /// Ledger entries that were posted again.
  public internal(set) var entries: Int64 = 0
  /// Executions that were taken over.
  public internal(set) var executions: Int64 = 0
  /// The canonical hash of the store (`CanonicalHash`).
  public internal(set) var recorded: [UInt8] = []
  /// The canonical hash of what was built.
  public internal(set) var rebuilt: [UInt8] = []
  /// The first records that could not be applied as they are.
  public internal(set) var faults: [LogReport.Finding] = []
  /// How many there are altogether.
  public internal(set) var faultCount = 0

  /// Whether what was built is the same as the store.
  public var isEqual: Bool { faultCount == 0 && recorded == rebuilt }

  mutating func note(_ revision: Revision?, _ message: String) {
    faultCount += 1
    if faults.count < LogReport.faultsMax { faults.append(LogReport.Finding(revision: revision, message: message)) }
  }
}
