public import RewardModel
public import TreeModel

/// One operation of the write pipeline: everything in it is committed together, or nothing is.
///
/// A client's write has one tree operation. The effect of a function has several, with transfers, outbox rows and the
/// record that it ran: it enters by the same door and is judged, matched, committed and shown like any other.
public struct CommitRequest: Sendable {
  /// A node that must still be what the author of the request saw.
  public struct Expectation: Sendable {
    public let path: Path
    public let node: TreeNode

    public init(path: Path, node: TreeNode) {
      self.path = path
      self.node = node
    }
  }

  /// Asks to answer a repetition of this request with the first answer.
  public struct Idempotency: Sendable {
    public let key: String
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

  public var namespace: NamespaceID
  public var actor: Actor
  public var requestID: String?
  /// Applied in order; a later one sees the earlier.
  public var operations: [WriteOperation]
  /// Applied after the operations.
  public var transfers: [LedgerTransfer]
  public var expectations: [Expectation]
  public var outbox: [OutboxRecord]
  /// The end of a function's run; its event and function may have only one, ever.
  public var execution: ExecutionRecord?
  /// Deliveries to store.
  public var deliveries: [DeliveryRecord]
  /// A delivery that this request settles.
  public var settles: (event: EventID, function: String)?
  /// See ``Snapshot/settledRevision(of:)``.
  public var settledRevision: Revision?
  public var functions: [FunctionRecord]
  public var audit: AuditRecord?
  public var cause: Cause?
  public var suppressesTriggers: Bool
  /// Whether new balances are opening entries, not adjustments.
  public var isImport: Bool
  public var idempotency: Idempotency?

  public init(namespace: NamespaceID, actor: Actor, operations: [WriteOperation] = []) {
    self.namespace = namespace
    self.actor = actor
    self.operations = operations
    requestID = nil
    transfers = []
    expectations = []
    outbox = []
    execution = nil
    deliveries = []
    settles = nil
    settledRevision = nil
    functions = []
    audit = nil
    cause = nil
    suppressesTriggers = false
    isImport = false
    idempotency = nil
  }
}
