public import RewardModel
public import TreeModel

/// A request on its way to a commit, as participants see it: what it will change, and what they add to it.
public struct CommitDraft {
  /// The request, as it came in.
  public let request: CommitRequest
  /// The operation's time, in milliseconds since 1970.
  public let time: Int64
  /// See ``EventID/epoch``.
  public let epoch: Int64
  /// The revision that the commit will have.
  public let revision: Revision
  /// What changes, sorted by path; empty if nothing does.
  public let changes: [LeafChange]
  /// The namespace's head; participants move the part that is theirs.
  public var head: NamespaceHead
  /// The events that participants stored for it.
  public var events: [EventRecord]
  /// The ledger entries that participants stored for it.
  public var entries: [LedgerEntry]

  /// What changes in the tree: without what the commit says of accounts, which stands at the end.
  public var treeChanges: [LeafChange] { changes.withoutAccounts }

  public init(
    request: CommitRequest, time: Int64, epoch: Int64, revision: Revision, changes: [LeafChange], head: NamespaceHead
  ) {
    self.request = request
    self.time = time
    self.epoch = epoch
    self.revision = revision
    self.changes = changes
    self.head = head
    events = []
    entries = []
  }
}
