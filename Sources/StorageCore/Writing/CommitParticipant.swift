public import RewardModel
public import TreeModel

/// A module that adds rows to the commits of others: events, ledger postings.
///
/// Called on the writer, in the batch, for one request at a time; what it reads through the session is the state that the
/// request is applied to. It must not wait for anything. Targets of one layer meet only here.
public protocol CommitParticipant: Sendable {
  /// Turns the part of the request that is not a tree operation into assignments; called after the operations were
  /// applied to the session.
  func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  /// Adds its rows to the session, and to the draft what others are told of.
  func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError)
}

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

/// A part of a request that is decided on the writer, on the state that the request is applied to: what has to look before
/// it writes, with nothing in between.
///
/// It reads and puts rows through the session, all of which are taken back if it throws, and returns what it writes below
/// `Key.accounts` or anywhere else in the tree. It must be quick, wait for nothing, and bear to be called again
/// for a request that is rehearsed.
public protocol WriterDecision: AnyObject, Sendable {
  func decide(in namespace: NamespaceID, at time: Int64, session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
}
