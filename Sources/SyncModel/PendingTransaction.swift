import TreeModel

/// A transaction that is not over.
struct PendingTransaction {
  enum State: Equatable {
    /// Its function is to run.
    case toRun
    /// It ran; what it wants to write waits for earlier transactions.
    case toSend
    /// It is handed over to be sent, which without a connection may take a while.
    case queued
    /// It is on its way to the server, and cannot be withdrawn.
    case sent
    /// It is sent, and something came over it meanwhile: unless the server took it, it ends.
    case sentAndAborted(Refusal)
  }

  let id: TransactionID
  let path: Path
  let isVisible: Bool
  /// The listener that keeps its place up to date.
  let listener: ListenerID
  var state = State.toRun
  var runs = 0
  /// What its function saw.
  var input = TreeNode.absent
  /// What it wants to write.
  var output = TreeNode.absent
  /// Its write in the tree.
  var write: WriteID?

  func touches(_ other: Path) -> Bool { path.contains(other) || other.contains(path) }
}
