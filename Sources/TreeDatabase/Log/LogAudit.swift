import RewardModel
public import StorageCore
import TreeModel

/// Proves, or disproves, that the log of a namespace is whole: the chain of commits, and what refers to it.
///
/// One pass over the commits, one over the ledger, one over the executions, in pages. The first fault of the chain is the
/// first record that is not what was written; what comes after it is checked against what is stored, so that each fault
/// shows once.
public struct LogAudit {
  static let pageSize = 500

  let snapshot: any Snapshot
  let namespace: NamespaceID
  private let goesOn: (LogReport) -> Bool
  var report = LogReport()
  private var last: CommitRecord?
  private var checkpoint: CheckpointRecord?
  /// Erasures whose commits were seen, and whose seal was not yet.
  private var seals: [Revision: ErasureSeal] = [:]

  /// Audits a namespace as it is in the snapshot.
  ///
  /// - `goesOn`: asked after each page, with what was read so far; at the first no the audit ends, and its report is of no use.
  public static func verify(
    _ snapshot: any Snapshot, namespace: NamespaceID, goesOn: @escaping (LogReport) -> Bool = { _ in true }
  ) throws(StorageError) -> LogReport {
    var audit = LogAudit(snapshot: snapshot, namespace: namespace, goesOn: goesOn)
    audit.report.pruned = try snapshot.prunedRevision(of: namespace)
    audit.checkpoint = try snapshot.checkpoint(of: namespace)
    try audit.checkCommits()
    try audit.checkHead()
    try audit.checkEntries()
    try audit.checkEvents()
    try audit.checkExecutions()
    try audit.checkCheckpoint()
    return audit.report
  }

  private init(snapshot: any Snapshot, namespace: NamespaceID, goesOn: @escaping (LogReport) -> Bool) {
    self.snapshot = snapshot
    self.namespace = namespace
    self.goesOn = goesOn
  }

  // MARK: The chain

  private mutating func checkCommits() throws(StorageError) {
    while true {
      let page = try snapshot.commits(in: namespace, after: last?.revision ?? .zero, limit: Self.pageSize)
      for commit in page {
        try check(commit)
        last = commit
      }
      guard page.count == Self.pageSize, goesOn(report) else { break }
    }
    report.lastHash = last?.hash ?? NamespaceHead.genesisHash
    report.unsealed = seals.keys.sorted()
  }

  private mutating func check(_ commit: CommitRecord) throws(StorageError) {
    report.commits += 1
    checkChain(commit)
    if let checkpoint, commit.revision == checkpoint.revision, commit.hash != checkpoint.commitHash {
      report.note(commit.revision, "Commit \(commit.revision) is not the one that the checkpoint was made of.")
    }
    guard let cause = commit.cause else { return }
    let execution = try snapshot.execution(in: namespace, of: cause.event, by: cause.function)
    if execution?.effect != commit.revision {
      report.note(
        commit.revision,
        "Commit \(commit.revision) is the effect of \(cause.function) for \(cause.event), whose execution does not know it.")
    }
  }

  private mutating func checkChain(_ commit: CommitRecord) {
    let revision = commit.revision
    let expected = (last?.revision ?? .zero).next
    if revision != expected {
      let count = revision.rawValue - expected.rawValue
      report.note(expected, "Commit \(expected) is missing\(count > 1 ? ", with \(count - 1) behind it" : "").")
    }
    if let time = last?.time, commit.time < time {
      report.note(revision, "Commit \(revision) has an earlier time than the commit before it.")
    }
    if let changes = commit.changes {
      if commit.erased.isEmpty, CommitRecord.digest(of: changes) != commit.digest {
        report.note(revision, "The changes of commit \(revision) are not what was written: their digest differs.")
      }
      checkErasures(commit)
    } else {
      report.forgotten += 1
      if revision > report.pruned {
        report.note(revision, "The changes of commit \(revision) are missing, and the log was not pruned there.")
      }
    }
    let hash = CommitRecord.chainHash(
      previous: last?.hash ?? NamespaceHead.genesisHash, epoch: commit.epoch, revision: revision, time: commit.time,
      actor: commit.actor, requestID: commit.requestID, cause: commit.cause,
      suppressesTriggers: commit.suppressesTriggers, digest: commit.digest)
    if hash != commit.hash, revision == expected {
      report.note(
        revision, "Commit \(revision) is not what was written, or does not follow on the one before it: its hash differs.")
    }
  }

  /// What an erasure left has the digest in its note, and the notes of all its commits have the hash in its seal. Where the log
  /// was pruned beyond the first of them, this cannot be checked any more.
  private mutating func checkErasures(_ commit: CommitRecord) {
    if !commit.erased.isEmpty {
      report.erased += 1
      if !commit.isPayloadSound {
        report.note(
          commit.revision, "The changes of commit \(commit.revision) are not what an erasure left: their digest differs.")
      }
      for part in commit.erased { seals[part.order, default: ErasureSeal()].add(commit.revision, part) }
    }
    guard let (order, first) = ErasureSeal.sealed(by: commit) else { return }
    let seal = seals.removeValue(forKey: order) ?? ErasureSeal()
    guard first > report.pruned || first == .zero else { return }
    if commit.requestID != seal.requestID(of: order) {
      report.note(
        order, "What the erasure of commit \(order) left in the log is not what commit \(commit.revision) sealed.")
    }
  }

  private mutating func checkHead() throws(StorageError) {
    let head = try snapshot.head(of: namespace)
    guard head.revision == last?.revision ?? .zero, head.commitHash == report.lastHash else {
      return report.note(head.revision, "The namespace's head is commit \(head.revision); the log does not end with it.")
    }
  }

  // MARK: What refers to commits

  private mutating func checkEntries() throws(StorageError) {
    var previous: LedgerEntry?
    while true {
      let page = try snapshot.entries(in: namespace, after: previous?.sequence ?? 0, limit: Self.pageSize)
      for entry in page {
        report.entries += 1
        if !entry.verify(after: previous) {
          report.note(
            Revision(entry.revision),
            "Ledger entry \(entry.sequence) is not what was written, or does not follow on the one before it.")
        }
        try checkLink(of: entry, after: previous)
        previous = entry
      }
      guard page.count == Self.pageSize, goesOn(report) else { return }
    }
  }

  private mutating func checkLink(of entry: LedgerEntry, after previous: LedgerEntry?) throws(StorageError) {
    let revision = Revision(entry.revision)
    guard let commit = try snapshot.commit(in: namespace, at: revision), entry.revision >= previous?.revision ?? 0 else {
      return report.note(
        revision, "Ledger entry \(entry.sequence) belongs to commit \(revision), which is missing or out of order.")
    }
    guard let function = entry.transfer.function else { return }
    if commit.cause?.function != function || commit.cause?.event.description != entry.transfer.event {
      report.note(
        revision, "Ledger entry \(entry.sequence) was paid by \(function), but commit \(revision) is not its effect.")
    }
  }

  private mutating func checkEvents() throws(StorageError) {
    var position: EventPosition?
    var commit: CommitRecord?
    while true {
      let page = try snapshot.events(in: namespace, after: position, limit: Self.pageSize)
      for event in page {
        let revision = event.id.revision
        if commit?.revision != revision { commit = try snapshot.commit(in: namespace, at: revision) }
        if commit?.epoch != event.id.epoch {
          report.note(revision, "Event \(event.id) is of a commit that is missing, or of another epoch.")
        }
        position = EventPosition(revision: revision, path: event.id.path)
      }
      guard page.count == Self.pageSize, goesOn(report) else { return }
    }
  }

  private mutating func checkExecutions() throws(StorageError) {
    var previous: ReplayItem?
    while true {
      let page = try snapshot.executions(in: namespace, after: previous, limit: Self.pageSize)
      for execution in page {
        report.executions += 1
        previous = ReplayItem(event: execution.event, function: execution.function)
        guard let effect = execution.effect else { continue }
        let cause = try snapshot.commit(in: namespace, at: effect)?.cause
        if cause?.event != execution.event || cause?.function != execution.function {
          report.note(
            effect, "The effect of \(execution.function) for \(execution.event) should be commit \(effect), which is another's."
          )
        }
      }
      guard page.count == Self.pageSize, goesOn(report) else { return }
    }
  }

  // MARK: The checkpoint

  private mutating func checkCheckpoint() throws(StorageError) {
    guard report.pruned > .zero else { return }
    guard let checkpoint, checkpoint.revision == report.pruned else {
      return report.note(report.pruned, "The log was pruned up to commit \(report.pruned), but there is no checkpoint of it.")
    }
    var hash = TreeHash()
    var previous: PathBytes?
    while true {
      let page = try snapshot.checkpointLeaves(in: namespace, of: checkpoint.revision, after: previous, limit: 4096)
      for leaf in page { hash.add(leaf) }
      previous = page.last?.path
      guard page.count == 4096, goesOn(report) else { break }
    }
    if hash.count != checkpoint.leafCount || hash.finalized() != checkpoint.treeHash {
      report.note(checkpoint.revision, "The checkpoint of commit \(checkpoint.revision) is not what was written.")
    }
  }
}

/// What was found in the log of one namespace.
public struct LogReport: Sendable, Hashable {
  /// A record that is not what it should be.
  public struct Finding: Sendable, Hashable {
    /// The commit it is about; nil where it is about another record.
    public let revision: Revision?
    /// What is wrong, in a sentence.
    public let message: String
  }

  /// Commits that were read.
  public internal(set) var commits: Int64 = 0
  /// Those whose changes were pruned: their digests stand for them.
  public internal(set) var forgotten: Int64 = 0
  /// Those of which a part was erased for players who left.
  public internal(set) var erased: Int64 = 0
  /// Erasures that are not sealed: they are under way, or were cut off and go on when they are ordered again.
  public internal(set) var unsealed: [Revision] = []
  /// Ledger entries whose links were followed.
  public internal(set) var entries: Int64 = 0
  /// Executions whose links were followed.
  public internal(set) var executions: Int64 = 0
  /// Up to here the log was pruned.
  public internal(set) var pruned = Revision.zero
  /// The hash of the last commit.
  public internal(set) var lastHash = NamespaceHead.genesisHash
  /// The first faults, in the order of the log.
  public internal(set) var faults: [Finding] = []
  /// How many there are altogether.
  public internal(set) var faultCount = 0

  /// Faults that are kept.
  static let faultsMax = 100

  /// Whether every record is what was written, and linked with the others as it should be.
  public var isSound: Bool { faultCount == 0 }

  mutating func note(_ revision: Revision?, _ message: String) {
    faultCount += 1
    if faults.count < Self.faultsMax { faults.append(Finding(revision: revision, message: message)) }
  }
}
