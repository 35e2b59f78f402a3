public import TreeModel

/// How much one commit may do; every cap of the write path in one place.
public struct WriteLimits: Sendable, Hashable {
  /// Leaves that one commit may change.
  public var leavesMax: Int
  /// Bytes of leaf values and paths that one commit may change.
  public var bytesMax: Int
  /// Events that one commit may cause (spec: triggers-ledger §1.6).
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
