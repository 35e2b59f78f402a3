public import RewardModel
public import TreeModel

/// The entrance to the write pipeline, for modules that commit something themselves.
public protocol TreeWriter: Sendable {
  /// Queues a request. `completion` is called once, on the writer, when the request is durable or refused; it must only
  /// hand the result on.
  func submit(_ request: CommitRequest, completion: @escaping @Sendable (Result<CommitReceipt, CommitError>) -> Void)
  /// Judges requests one after the other, each on what the ones before it left, and takes everything back: nothing is
  /// committed, nobody is told. `completion` is called once, on the writer, with what would have become of each.
  func rehearse(
    _ requests: [CommitRequest],
    completion: @escaping @Sendable ([Result<CommittedRequest, CommitError>]) -> Void)
}

extension TreeWriter {
  /// Commits a request.
  ///
  /// - Returns: the receipt, once the commit is durable.
  public func commit(_ request: CommitRequest) async throws(CommitError) -> CommitReceipt {
    try await withCheckedContinuation { continuation in
      submit(request) { continuation.resume(returning: $0) }
    }.get()
  }
}

/// What became of a request that was accepted and is durable.
public struct CommitReceipt: Sendable {
  /// The tree's revision: the commit's, or the one before if nothing changed.
  public let revision: Revision
  /// Whether the tree changed, and so whether there is a commit record.
  public let changed: Bool
  /// The operation's time, in milliseconds since 1970.
  public let time: Int64
  /// The node of each assignment of each operation, server values filled in; in the request's order.
  public let resolved: [TreeNode]
  /// The events that the commit caused.
  public let events: [EventRecord]
  /// The ledger entries that were made, adjustments included.
  public let entries: [LedgerEntry]
  /// The stored answer, if this request was a repetition; nothing else happened then.
  public let replayed: IdempotencyRecord?

  public init(
    revision: Revision, changed: Bool, time: Int64, resolved: [TreeNode] = [], events: [EventRecord] = [],
    entries: [LedgerEntry] = [], replayed: IdempotencyRecord? = nil
  ) {
    self.revision = revision
    self.changed = changed
    self.time = time
    self.resolved = resolved
    self.events = events
    self.entries = entries
    self.replayed = replayed
  }
}

/// A request that is durable.
///
/// A class, because it is handed to every observer, and on to their threads.
public final class CommittedRequest: Sendable {
  /// What was asked.
  public let request: CommitRequest
  /// What became of it.
  public let receipt: CommitReceipt
  /// What changed, sorted by path.
  public let changes: [LeafChange]

  public init(request: CommitRequest, receipt: CommitReceipt, changes: [LeafChange]) {
    self.request = request
    self.receipt = receipt
    self.changes = changes
  }
}

/// Someone who is told what became durable, in revision order, before the writers themselves. Called on the one thread that
/// tells: it must only take note, for the next batch is not written before.
public protocol CommitObserver: Sendable {
  func didCommit(_ batch: [CommittedRequest])
  /// A namespace was forgotten whole, with everything that was committed to it.
  func didForget(_ namespace: NamespaceID)
}

extension CommitObserver {
  public func didForget(_ namespace: NamespaceID) {}
}

/// Why a request was not applied. Nothing of it was.
///
/// The code is for the surfaces, which choose a status and a wire code; the message says what to do.
public struct CommitError: Error, Sendable, CustomStringConvertible {
  /// The reasons, with what a surface needs to answer.
  public enum Code: Sendable {
    /// A compare-and-set, or an expectation, met another value: the node that is there.
    case stale(TreeNode)
    /// Security rules do not allow it.
    case permissionDenied
    /// The data cannot be written there: a priority without a node, a tree too deep.
    case invalid
    /// More leaves or bytes than one commit may change.
    case tooLarge
    /// The write would cause more events, or a larger one, than is allowed.
    case triggersExceeded
    /// The balance is no integer.
    case balanceType
    case balanceOverflow
    case insufficientFunds
    /// The business key was used by this entry, for the same transfer or another.
    case keyTaken(LedgerEntry)
    /// The ledger cannot take the transfer as it is.
    case invalidTransfer
    /// The event was already handled by this function.
    case alreadyExecuted
    /// A keyed record is not what the request expects: its value, nil if there is none.
    case recordChanged(kind: String, key: String, value: String?)
    /// Another request was made under the same idempotency key.
    case idempotencyConflict
    /// The decision that came with the request (``CommitRequest/decision``) refused it, and knows why.
    case rejected
    /// The queue before the writer is full.
    case overloaded
    /// The store is stopped, or failed.
    case unavailable
  }

  /// Which reason.
  public let code: Code
  /// What happened, and what to do: a sentence that may be shown to the caller.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Refuses because of the security rules; the words are the hosted service's.
  public static let permissionDenied = CommitError(.permissionDenied, "Permission denied")

  /// Refuses because the store failed. That is never the request's fault, so it is ``Code/unavailable``.
  public init(_ error: StorageError) {
    self.init(.unavailable, error.message)
  }

  public var description: String { message }
}

/// How much one commit may do; every cap of the write path in one place.
public struct WriteLimits: Sendable, Hashable {
  /// Leaves that one commit may change.
  public var leavesMax: Int
  /// Bytes of leaf values and paths that one commit may change.
  public var bytesMax: Int
  /// Events that one commit may cause.
  public var eventsMax: Int
  /// Bytes of before and after that one event may carry.
  public var eventBytesMax: Int
  /// How many functions may stand between a client's write and an event that still runs.
  public var hopsMax: Int
  /// Requests that may wait for the writer.
  public var queueMax: Int
  /// Requests that share one transaction.
  public var batchMax: Int
  /// Leaves in a batch at which it takes no further request, those of refused requests too: all of them are in memory, and
  /// what a batch has removed is stepped over by its later looks.
  public var batchLeavesMax: Int

  public init(
    leavesMax: Int = 100_000, bytesMax: Int = 16 << 20, eventsMax: Int = 1000, eventBytesMax: Int = 1 << 20, hopsMax: Int = 8,
    queueMax: Int = 16_384, batchMax: Int = 512, batchLeavesMax: Int = 5_000
  ) {
    self.leavesMax = leavesMax
    self.bytesMax = bytesMax
    self.eventsMax = eventsMax
    self.eventBytesMax = eventBytesMax
    self.hopsMax = hopsMax
    self.queueMax = queueMax
    self.batchMax = batchMax
    self.batchLeavesMax = batchLeavesMax
  }

  /// What the data of one write may be. It is counted when it is read; what a commit changes is counted again by the writer.
  public var bounds: WriteBounds { WriteBounds(leavesMax: leavesMax, bytesMax: bytesMax) }
}
