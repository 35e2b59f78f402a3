import StorageCore

/// One namespace as the dispatcher knows it.
struct NamespaceState {
  var tracker: SettlementTracker
  /// Whether its events are to be loaded from storage.
  var isLagging = false
  /// Whether a runner is loading them.
  var isLoading = false
  /// What the writer handed over while they were loaded.
  var held: [Arrival] = []
  /// The last settled revision that was sent to storage.
  var sentWatermark: Revision
  /// Who waits until it does not lag any more.
  var followers: [Int] = []
  /// Waiters for everything up to a revision; they watch what is loaded meanwhile, too.
  var drains: [(waiter: Int, through: Revision)] = []

  init(settled: Revision) {
    tracker = SettlementTracker(settled: settled)
    sentWatermark = settled
  }

  var watermark: Revision { tracker.watermark(isLagging: isLagging || isLoading) }
}
