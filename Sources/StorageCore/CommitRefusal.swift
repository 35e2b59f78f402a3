public import RewardModel
public import TreeModel

/// Why a request was not applied. Nothing of it was.
///
/// The code is for the surfaces, which choose a status and a wire code; the message says what to do.
public struct CommitRefusal: Error, Sendable, CustomStringConvertible {
  /// The reasons, with what a surface needs to answer.
  public enum Code: Sendable {
    /// A compare-and-set, or an expectation, met another value: the node that stands there.
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
    /// A room's record is not what the request expects: the value that stands there, nil if none does.
    case recordChanged(kind: String, key: String, value: String?)
    /// Another request was made under the same idempotency key.
    case idempotencyConflict
    /// What was asked about an account cannot be done; the code is the protocol's (spec: auth-protocol §2).
    case account(code: String)
    /// The queue before the writer is full.
    case overloaded
    /// The store is stopped, or failed.
    case unavailable
  }

  /// Which reason.
  public let code: Code
  /// What happened, and what to do: a sentence that may be shown to whoever asked.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Refuses because of the security rules; the words are the hosted service's (spec: rtdb-protocol §2, 401).
  public static let permissionDenied = CommitRefusal(.permissionDenied, "Permission denied")

  /// Refuses because the store failed. That is never the request's fault, so it is ``Code/unavailable``.
  public init(_ error: StorageError) {
    self.init(.unavailable, error.message)
  }

  public var description: String { message }
}
