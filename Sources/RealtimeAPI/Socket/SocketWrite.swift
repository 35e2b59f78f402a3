import StorageCore
import TreeModel

/// A set, an update or a transaction's set, judged as far as the door can.
struct SocketWrite: Sendable {
  /// Of the request.
  let number: Int64
  let operation: WriteOperation
  let namespace: NamespaceID
  /// Of the request.
  let weight: Int

  /// Where a transaction takes place; nil for what is written whatever stands there.
  var place: TransactionTurns.Place? {
    operation.expectedHash == nil ? nil : .init(namespace: namespace, path: operation.path)
  }
}

/// An answer that may have to wait for those before it.
enum SocketAnswer: Sendable {
  case message([UInt8])
  case write(SocketWriteOutcome)
}

/// What became of a write, until it is acknowledged.
struct SocketWriteOutcome: Sendable {
  let write: SocketWrite
  let result: Result<CommitReceipt, CommitRefusal>
  /// Has the rules' reasons.
  let note: JudgementNote?
}
