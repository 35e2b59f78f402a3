package import SyncModel
package import TreeModel

/// The time, as a session is told it.
package struct Moment: Sendable {
  /// Milliseconds since 1970, as this machine has it.
  package var wall: Int64
  /// Milliseconds of a clock that only goes forward.
  package var uptime: Int64

  package init(wall: Int64, uptime: Int64) {
    self.wall = wall
    self.uptime = uptime
  }
}

/// The number of a one-time read.
package struct ReadID: Sendable, Hashable {
  package let number: Int
}

/// The number of a request for what is to be done when the link is lost.
package struct DisconnectID: Sendable, Hashable {
  package let number: Int
}

/// What a session wants done, in the order of the list.
package enum SessionOutput: Sendable {
  /// Open a socket; nil: to the configured host.
  case connect(host: String?, target: String)
  /// Send a frame.
  case send([UInt8])
  /// Close the socket. What it still says no longer matters.
  case close
  /// The token is refused: get another.
  case refreshToken
  /// A write is pending: keep it, before it is sent.
  case pending(PendingWrite, key: String)
  /// A write went out.
  case sent(WriteID)
  /// A write is answered.
  case written(WriteID, Refusal?)
  /// Tell a listener.
  case event(ListenerID, TreeEvent)
  /// Tell a listener that it is no more.
  case cancelled(ListenerID, Refusal)
  /// Let a transaction's function run.
  case run(TransactionID)
  /// A transaction is over.
  case finished(TransactionID, TransactionResult)
  /// A one-time read is answered; a failure with the status `offline` means that nobody could be asked.
  case read(ReadID, Result<TreeNode, ReadFailure>)
  /// The server knows, or refuses, what to do when the link is lost.
  case disconnectSet(DisconnectID, Refusal?)
  /// A line for the log; the first is whether it is a warning.
  case log(isWarning: Bool, String)
}

/// Why a one-time read failed.
package struct ReadFailure: Error, Sendable {
  package let refusal: Refusal

  /// Nobody could be asked.
  package var isOffline: Bool { refusal.status == "offline" }
}
