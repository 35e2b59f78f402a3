package import TreeModel

/// What the tree wants done; in the order of the list.
package enum SyncEffect: Sendable {
  /// Ask the server for data, and for what changes.
  case listen(WireListen)
  /// The server's data is no longer needed.
  case unlisten(WireListen)
  /// A write is pending: keep it where the end of the app does not reach it.
  case keep(PendingWrite)
  /// Send a write; it stays pending until it is answered.
  case send(PendingWrite)
  /// Send the node that a transaction wants to write, on the condition that the place has the hash.
  case sendTransaction(TransactionID, path: Path, node: TreeNode, hash: String)
  /// Tell a listener.
  case event(ListenerID, TreeEvent)
  /// Tell a listener that it is no more.
  case cancelled(ListenerID, Refusal)
  /// A write is answered; nil: it is done.
  case written(WriteID, Refusal?)
  /// Let a transaction's function look at the value (``ClientTree/transactionInput(_:)``), and say what it makes of it.
  case run(TransactionID)
  /// A transaction is over.
  case finished(TransactionID, TransactionResult)
}

/// How a transaction ended.
package enum TransactionResult: Sendable, Hashable {
  /// The server took it; the node is what stands there now.
  case committed(TreeNode)
  /// Its function did not want to write; the node is what it saw.
  case aborted(TreeNode)
  /// It was not done.
  case failed(Refusal, TreeNode)
}
