import StorageCore

/// `limits`: how much one request and one commit may do.
struct LimitsSection: ConfigurationSection {
  let writes: WriteLimits
  /// Bytes of body of a request; nil for the usual.
  let requestBytesMax: Int?
  /// Places and queries that all realtime clients of one network may listen to.
  let listensPerNetworkMax: Int
  /// Bytes of input that all clients together may leave unfinished; nil for the usual.
  let unfinishedInputMax: Int?
  /// Bytes of output that all clients together may leave unread; nil for the usual.
  let unreadOutputMax: Int?
  /// Threads that run functions; nil for the usual.
  let runners: Int?
  /// Threads that answer requests; nil for one for each core.
  let eventLoops: Int?

  init(_ reader: ConfigurationReader) {
    var writes = WriteLimits()
    writes.leavesMax = reader.integer("commitLeaves", 1...10_000_000) ?? writes.leavesMax
    writes.bytesMax = reader.size("commitBytes", 1024...(1 << 30)) ?? writes.bytesMax
    writes.eventsMax = reader.integer("commitEvents", 1...1_000_000) ?? writes.eventsMax
    writes.eventBytesMax = reader.size("eventBytes", 1024...(256 << 20)) ?? writes.eventBytesMax
    writes.hopsMax = reader.integer("hops", 1...64) ?? writes.hopsMax
    writes.queueMax = reader.integer("waitingWrites", 16...1_000_000) ?? writes.queueMax
    self.writes = writes
    requestBytesMax = reader.size("requestBytes", 1024...(1 << 30))
    listensPerNetworkMax = reader.integer("listensPerNetwork", 1...100_000_000) ?? 100_000
    unfinishedInputMax = reader.size("unfinishedInput", (1 << 20)...(64 << 30))
    unreadOutputMax = reader.size("unreadOutput", (1 << 20)...(64 << 30))
    runners = reader.integer("functionThreads", 1...256)
    eventLoops = reader.integer("requestThreads", 1...256)
  }
}
