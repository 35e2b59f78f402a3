import Synchronization

/// What the hub has done and has to do, as numbers.
public struct ListenCounts: Sendable, Hashable {
  /// Listens at the moment.
  public let listens: Int
  /// Events given to sinks.
  public let deliveries: Int
  /// Snapshots that listens needed beside their first, because a client or the hub fell behind.
  public let resyncs: Int
}

/// The same, while it is counted.
final class ListenCounters: Sendable {
  let listens = Atomic<Int>(0)
  let deliveries = Atomic<Int>(0)
  let resyncs = Atomic<Int>(0)

  var current: ListenCounts {
    ListenCounts(
      listens: listens.load(ordering: .relaxed), deliveries: deliveries.load(ordering: .relaxed),
      resyncs: resyncs.load(ordering: .relaxed))
  }
}
