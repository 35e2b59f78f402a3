import FunctionsKit
import StorageCore
import Synchronization
import TreeModel

/// What a replay asks of the dispatcher. Replayed events go through the lanes like any other: order keys, retries and
/// deadlines hold, and the writer's one check sees to it that nothing happens twice.
extension Dispatcher {
  /// Takes in deliveries whose records were just stored, tries at once what waits for its retry, and waits until all of them
  /// have come to rest: handled, dead, paused, or waiting for a retry.
  ///
  /// - Returns: false if the dispatcher stopped first.
  func deliver(_ records: [DeliveryRecord], hurrying retries: Set<ReplayItem>, in namespace: NamespaceID) async -> Bool {
    let waiter = withState { state -> Int? in
      guard !state.isStopping else { return nil }
      // Also those whose time had come by itself.
      var roots = state.hurry(retries, in: namespace).union(retries.map(\.event.revision))
      for record in records {
        guard let delivery = state.delivery(record, in: namespace) else { continue }
        state.begin(delivery)
        state.route(delivery)
        roots.insert(delivery.root)
      }
      let waiter = state.addWaiter()
      for root in roots { state.watch(root, in: namespace, for: waiter) }
      return waiter
    }
    guard let waiter else { return false }
    return await suspend(waiter)
  }

  /// Whether functions run, or will, so that something can be given to them.
  var isServing: Bool { hasWriter && !state.withLock(\.isStopping) }
}

extension DispatchState {
  /// Makes the time of these retries now.
  ///
  /// - Returns: the roots of those that were found waiting.
  mutating func hurry(_ items: Set<ReplayItem>, in namespace: NamespaceID) -> Set<Revision> {
    guard !items.isEmpty else { return [] }
    let found = timers.remove { timed in
      guard case .retry(let delivery) = timed, delivery.namespace == namespace else { return false }
      return items.contains(ReplayItem(event: delivery.event, function: functions[delivery.function].name))
    }
    var roots: Set<Revision> = []
    for delivery in found.compactMap(\.delivery) {
      begin(delivery)
      free(delivery.lane)
      requeue(delivery)
      roots.insert(delivery.root)
    }
    return roots
  }
}
