public import RewardModel
public import TreeModel

/// One operation of the write pipeline: everything in it is committed together, or nothing is.
///
/// A client's write has one tree operation. The effect of a function has several, with transfers, outbox rows and the
/// record that it ran: it enters by the same door and is judged, matched, committed and shown like any other.
public struct CommitRequest: Sendable {
  /// A node that must still be what the author of the request saw.
  public struct Expectation: Sendable {
    /// Where it must be.
    public let path: Path
    /// What must stand there, priority and all; absent if nothing may.
    public let node: TreeNode

    public init(path: Path, node: TreeNode) {
      self.path = path
      self.node = node
    }
  }

  /// A subtree in which nothing may have been written since a commit, not even what stood there before.
  public struct Quiet: Sendable {
    /// The subtree.
    public let path: Path
    /// The commit.
    public let since: Revision

    public init(path: Path, since: Revision) {
      self.path = path
      self.since = since
    }
  }

  /// Asks to answer a repetition of this request with the first answer.
  public struct Idempotency: Sendable {
    /// What the client calls the request; unique in its namespace.
    public let key: String
    /// SHA-256 of the request: another request under the same key is refused.
    public let requestDigest: [UInt8]
    /// How long to remember, in milliseconds.
    public let lifetime: Int64
    /// What the surface answers, from the receipt.
    public let answer: @Sendable (CommitReceipt) -> [UInt8]

    public init(
      key: String, requestDigest: [UInt8], lifetime: Int64, answer: @escaping @Sendable (CommitReceipt) -> [UInt8]
    ) {
      self.key = key
      self.requestDigest = requestDigest
      self.lifetime = lifetime
      self.answer = answer
    }
  }

  /// Whose tree and ledger it is about; a request never touches two.
  public var namespace: NamespaceID
  /// Who asks. The commit records it; the surface has judged by then whether the actor may.
  public var actor: Actor
  /// What security rules see as `auth` when they judge the request; nil for nobody. An actor that rules do not apply to has
  /// none.
  public var auth: AuthVariable?
  /// Gets the reasons of security rules; nil where nobody may know them.
  public var judgement: JudgementNote?
  /// What the client calls this request, for the log; nothing is judged by it.
  public var requestID: String?
  /// Applied in order; a later one sees the earlier.
  public var operations: [WriteOperation]
  /// Applied after the operations.
  public var transfers: [LedgerTransfer]
  /// Judged before anything is applied; one that fails refuses the whole request as stale.
  public var expectations: [Expectation]
  /// Judged with the expectations. What was removed is not noticed.
  public var quiet: [Quiet]
  /// Messages for the outside, stored with the commit and delivered after it.
  public var outbox: [OutboxRecord]
  /// The end of a function's run; its event and function may have only one, ever.
  public var execution: ExecutionRecord?
  /// Deliveries to store.
  public var deliveries: [DeliveryRecord]
  /// A delivery that this request settles.
  public var settles: (event: EventID, function: String)?
  /// See ``Snapshot/settledRevision(of:)``.
  public var settledRevision: Revision?
  /// What is to be remembered of functions; each replaces the record of its name.
  public var functions: [FunctionRecord]
  /// What becomes of rooms' records; an expectation that fails refuses the whole request.
  public var records: [RoomChange]
  /// A line for the audit log, written in the same transaction: a request that is refused leaves none.
  public var audit: AuditRecord?
  /// Rows of the administrators' work; nil for everybody else's requests.
  public var upkeep: Upkeep?
  /// What is decided about accounts, on the writer; nil for requests that are not about any.
  public var decision: (any WriterDecision)?
  /// The event and the function whose effect this is; nil for everybody else's request.
  public var cause: Cause?
  /// Whether the commit makes no events, so that no function runs for it.
  public var suppressesTriggers: Bool
  /// Whether the log gets a record of this request even if it changes nothing.
  public var isMarked: Bool
  /// Whether new balances are opening entries, not adjustments.
  public var isImport: Bool
  /// Makes a repetition of the request harmless; nil where every request counts.
  public var idempotency: Idempotency?

  public init(namespace: NamespaceID, actor: Actor, operations: [WriteOperation] = []) {
    self.namespace = namespace
    self.actor = actor
    self.operations = operations
    auth = nil
    judgement = nil
    requestID = nil
    transfers = []
    expectations = []
    quiet = []
    outbox = []
    execution = nil
    deliveries = []
    settles = nil
    settledRevision = nil
    functions = []
    records = []
    audit = nil
    upkeep = nil
    decision = nil
    cause = nil
    suppressesTriggers = false
    isMarked = false
    isImport = false
    idempotency = nil
  }
}
