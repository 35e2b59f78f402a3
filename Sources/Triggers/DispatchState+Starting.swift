import FunctionsKit
import StorageCore
import TreeModel

extension DispatchState {
  /// Takes over what the start found out about the functions.
  mutating func adopt(_ plan: StartPlan) {
    functions = plan.functions
    missing = plan.missing
  }

  /// Takes in a namespace, with the deliveries that wait in it, in the order of their events.
  mutating func open(
    _ namespace: NamespaceID, settled: Revision, _ waiting: [DeliveryRecord], suspects: Set<ReplayItem>
  ) {
    namespaces[namespace] = NamespaceState(settled: settled)
    for record in waiting {
      guard let delivery = delivery(record, in: namespace) else { continue }
      let isSuspect = suspects.contains(ReplayItem(event: record.event, function: record.function))
      if isSuspect, lanes.isFree(delivery.lane) {
        _ = lanes.admit(delivery, to: delivery.lane)
        begin(delivery)
        quarantine.append(delivery)
      } else {
        schedule(delivery, until: record.state == .waiting ? record.nextAttemptAt : 0)
      }
    }
  }

  /// Makes the delivery run at a time, after those of its lane.
  mutating func schedule(_ delivery: Delivery, until time: Int64) {
    // What is beyond the lane's room stays in storage.
    guard !isFull(delivery.lane) else { return lanes.cut(delivery.lane) }
    guard lanes.admit(delivery, to: delivery.lane) else {
      // Behind a suspect, which runs at once, it is as good as under way.
      if !lanes.isHeld(delivery.lane) { begin(delivery) }
      return
    }
    // What is loaded later stands behind it, and is at rest like it.
    lanes.hold(delivery.lane, true)
    timers.add(.retry(delivery), at: time)
    wake(by: time)
  }

  /// A stored delivery as one in memory; nil if its function or its path is unknown.
  func delivery(_ record: DeliveryRecord, in namespace: NamespaceID) -> Delivery? {
    guard let function = table.position(of: record.function), let path = record.event.path.path else { return nil }
    let event = EventRecord(namespace: namespace, id: record.event, kind: record.kind, hop: record.hop)
    var delivery = Delivery(
      EventFacts(record: event, path: path, commit: nil), to: function, of: table.definitions[function],
      root: record.event.revision)
    delivery.attempts = record.attempts
    delivery.crashes = record.crashes
    delivery.isStored = true
    return delivery
  }
}

extension FunctionRecord {
  /// A function as storage keeps it.
  init(_ definition: FunctionDefinition, _ state: FunctionState, at now: Int64) {
    self.init(
      name: state.name, pattern: definition.pattern.description, kinds: definition.trigger.rawValue, since: state.since,
      isPaused: state.phase == .paused, pauseReason: state.phase == .paused ? state.pauseReason : nil, updatedAt: now)
  }
}
