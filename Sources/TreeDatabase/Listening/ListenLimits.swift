/// How much listening may cost.
public struct ListenLimits: Sendable {
  /// Bytes that may wait to be written to one client. Beyond it the client's changes are dropped, and it gets fresh
  /// snapshots once it has caught up.
  public var outstandingBytesMax = 512 << 10
  /// Bytes of messages that a lane may be behind. Beyond it the listens concerned get fresh snapshots.
  public var laneBytesMax = 32 << 20
  /// Leaf changes (and requests) that may wait for the hub. Beyond it what is committed is not looked at any more, and every
  /// listen of the namespaces concerned gets a fresh snapshot.
  public var backlogMax = 500_000
  /// Messages that a listen keeps while its snapshot is read; of more the oldest are dropped, and if the snapshot turns out
  /// to be older than those it is read again.
  public var heldMessagesMax = 4096
  /// Leaves below a listen that has a window, or that is sent whole; more end the listen.
  public var leavesMax = 1_000_000
  /// Children beyond a window's limit that are remembered, so that one that leaves is followed by the next without a search.
  public var reserveMax = 256
  /// Listens of one connection.
  public var listensPerConnectionMax = 10_000
  /// Threads that read snapshots.
  public var readerCount = 2

  public init() {}
}
