import FunctionsKit
import Logging
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
    _ namespace: NamespaceID, settled: Revision, waiting: [DeliveryRecord], suspects: Set<ReplayItem>
  ) {
    namespaces[namespace] = NamespaceState(settled: settled)
    for record in waiting {
      guard let delivery = delivery(record, in: namespace) else { continue }
      let isSuspect = suspects.contains(ReplayItem(event: record.event, function: record.function))
      if isSuspect, queue.isFree(delivery.orderingKey) {
        _ = queue.admit(delivery, to: delivery.orderingKey)
        begin(delivery)
        quarantine.append(delivery)
      } else {
        schedule(delivery, until: record.state == .waiting ? record.nextAttemptAt : 0)
      }
    }
  }

  /// Makes the delivery run at a time, after those of its key.
  mutating func schedule(_ delivery: Delivery, until time: Int64) {
    // What exceeds the key's share of memory stays in storage.
    guard !isFull(delivery.orderingKey) else { return queue.markSpilled(delivery.orderingKey) }
    guard queue.admit(delivery, to: delivery.orderingKey) else {
      // Behind a suspect, which runs at once, it is as good as under way.
      if !queue.isHeld(delivery.orderingKey) { begin(delivery) }
      return
    }
    // What is loaded later waits behind it, and is at rest like it.
    queue.hold(delivery.orderingKey, isHeld: true)
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

extension DispatchState {
  /// Takes in what the writer committed.
  mutating func absorb(_ contents: Inbox.Contents, at now: Int64) {
    for arrival in contents.arrivals { absorb(arrival, at: now) }
    for namespace in contents.lagging { fallBehind(namespace) }
    for (purpose, result) in contents.completions { complete(purpose, result: result, at: now) }
  }

  /// Takes in the events of one commit.
  mutating func absorb(_ arrival: CommittedEvents, at now: Int64) {
    let namespace = arrival.namespace
    if namespaces[namespace] == nil { namespaces[namespace] = NamespaceState(settled: .zero) }
    if namespaces[namespace]?.isLoading == true || namespaces[namespace]?.isLagging == true {
      namespaces[namespace]?.held.append(arrival)
      return
    }
    for event in arrival.events {
      guard namespaces[namespace]?.tracker.hasAbsorbed(event.id) == false, let path = event.id.path.path else { continue }
      let facts = EventFacts(record: event, path: path, commit: arrival.commit)
      if event.hop > options.limits.hopsMax {
        remarkEndOfChain(facts, change: arrival.commit.changes?.change(at: event.id.path))
      }
      absorb(
        facts, wanting: wanting(facts.record, change: arrival.commit.changes?.change(at: event.id.path)),
        parent: arrival.parent,
        at: now)
    }
    noteAbsorbed(namespace)
  }

  /// The functions that an event is for. Those beyond the hop limit have their dead letters from the event's commit.
  func wanting(_ event: EventRecord, change: LeafChange?) -> [Int] {
    guard event.hop <= options.limits.hopsMax else { return [] }
    return table.wanting(event.id.path, kind: event.kind, change: change).filter { !functions[$0].isNew(for: event) }
  }

  /// Says which functions started each other too often: their dead letters came with the event's commit.
  private mutating func remarkEndOfChain(_ facts: EventFacts, change: LeafChange?) {
    let names = table.wanting(facts.record.id.path, kind: facts.record.kind, change: change).map { functions[$0].name }
    let (name, event, hop) = (names.joined(separator: ", "), facts.record.id, facts.record.hop)
    actions.remarks.append(
      (.error, "\(name) gave up on \(event): functions started each other \(hop) times; \(options.limits.hopsMax) may."))
  }

  /// Takes in one event for these functions.
  mutating func absorb(_ facts: EventFacts, wanting: [Int], parent: Revision?, at now: Int64) {
    let namespace = facts.namespace
    let root =
      namespaces[namespace]?.tracker.absorb(facts.record.id, functions: wanting.count, parent: parent) ?? facts.revision
    for function in wanting {
      let run = inline.take(facts.record.id, by: function, in: namespace)
      var delivery = run?.delivery ?? Delivery(facts, to: function, of: table.definitions[function], root: root)
      delivery.root = root
      delivery.isUnsettled = true
      inline.noteAbsorbed(facts.revision, of: delivery.orderingKey)
      begin(delivery)
      if let run { conclude(run, of: delivery, at: now) } else { route(delivery) }
    }
    watchNewRoot(root, in: namespace)
  }

  /// Sends a delivery where its function's phase wants it.
  mutating func route(_ delivery: Delivery) {
    switch functions[delivery.function].phase {
    case .active: enqueue(delivery)
    case .paused: park(delivery)
    case .resuming:
      if delivery.isUnsettled, !functions[delivery.function].isCatchingUp {
        park(delivery)
      } else {
        functions[delivery.function].held.append(delivery)
      }
    }
  }

  mutating func park(_ delivery: Delivery) {
    functions[delivery.function].parking += 1
    parks[delivery.namespace, default: []].append(delivery)
  }

  mutating func collectParks(at now: Int64) {
    for deliveries in parks.values {
      for start in stride(from: 0, to: deliveries.count, by: 256) {
        let chunk = Array(deliveries[start..<min(start + 256, deliveries.count)])
        actions.submissions.append(parking(chunk, isLate: false, at: now))
      }
    }
    parks = [:]
  }

  /// The records of deliveries of a namespace whose functions are paused.
  func parking(_ deliveries: [Delivery], isLate: Bool, at now: Int64) -> WriterRequest {
    guard let first = deliveries.first else { preconditionFailure("There is always one that is parked.") }
    var request = request(in: first.namespace)
    request.triggers.deliveries = deliveries.map { delivery in
      let function = functions[delivery.function]
      return delivery.record(
        .paused, function: function.name, lastError: function.pauseReason ?? "The function was paused.", at: now)
    }
    return WriterRequest(request: request, purpose: .park(deliveries, isLate: isLate))
  }

  // MARK: Lagging

  /// The namespace's events are loaded from storage from now on, from the settled revision.
  mutating func fallBehind(_ namespace: NamespaceID) {
    if namespaces[namespace] == nil { namespaces[namespace] = NamespaceState(settled: .zero) }
    guard namespaces[namespace]?.isLagging == false else { return }
    namespaces[namespace]?.isLagging = true
    // While a runner loads it, what it does at the end brings the namespace here again.
    if namespaces[namespace]?.isLoading == false { loads.append(namespace) }
  }

  /// A runner has caught up with the namespace, or leaves off.
  ///
  /// - `isComplete`: whether nothing is left in storage that the inbox will not bring.
  mutating func finishLoading(_ namespace: NamespaceID, isComplete: Bool, at now: Int64) {
    guard namespaces[namespace] != nil else { return }
    namespaces[namespace]?.isLoading = false
    guard isComplete else { return loads.append(namespace) }
    let held = namespaces[namespace]?.held ?? []
    namespaces[namespace]?.held = []
    let laggedAgain = namespaces[namespace]?.isLagging ?? false
    namespaces[namespace]?.isLagging = false
    for arrival in held { absorb(arrival, at: now) }
    if laggedAgain { return fallBehind(namespace) }
    let followers = namespaces[namespace]?.followers ?? []
    namespaces[namespace]?.followers = []
    for waiter in followers { release(waiter) }
  }

  /// Ends what was only waiting for events to be taken in.
  mutating func noteAbsorbed(_ namespace: NamespaceID) {
    guard let revision = namespaces[namespace]?.tracker.absorbed.revision else { return }
    let quiet = namespaces[namespace]?.tracker.releaseExpected(through: revision) ?? []
    for waiter in quiet { release(waiter) }
  }
}

/// What is queued behind a delivery that waits for a retry waits too: it gets a delivery record of its own, so that
/// one failing key neither holds back the settled revision nor keeps a drain waiting.
extension DispatchState {
  /// Queues a delivery that counts as active.
  mutating func enqueue(_ delivery: Delivery) {
    if let orderingKey = delivery.orderingKey, isFull(orderingKey) {
      return spill([delivery], of: orderingKey, at: delivery.facts.commit?.time ?? 0)
    }
    guard queue.isHeld(delivery.orderingKey) else { return queue.add(delivery, to: delivery.orderingKey) }
    var delivery = delivery
    end(delivery)
    if delivery.isUnsettled { put([delivery], at: delivery.facts.commit?.time ?? 0) }
    delivery.isStored = true
    delivery.isUnsettled = false
    queue.add(delivery, to: delivery.orderingKey)
  }

  /// The head of a key waits for a retry from now on.
  mutating func hold(_ orderingKey: OrderingKey?, at now: Int64) {
    var unsettled: [Delivery] = []
    var all: [Delivery] = []
    let excess = queue.trim(orderingKey, to: options.behindMax)
    if let orderingKey, !excess.isEmpty { spill(excess, of: orderingKey, at: now) }
    queue.hold(orderingKey, isHeld: true)
    queue.updateBehind(orderingKey) { delivery in
      all.append(delivery)
      if delivery.isUnsettled { unsettled.append(delivery) }
      // The record is on its way, before anything that the delivery could send later; removing one that the writer had
      // no space for does no harm.
      delivery.isStored = true
      delivery.isUnsettled = false
    }
    for delivery in all { end(delivery) }
    put(unsettled, at: now)
  }

  /// The head of a key is tried again: what is behind it may run soon.
  mutating func free(_ orderingKey: OrderingKey?) {
    guard queue.isHeld(orderingKey) else { return }
    var all: [Delivery] = []
    queue.hold(orderingKey, isHeld: false)
    queue.updateBehind(orderingKey) { all.append($0) }
    for delivery in all { begin(delivery) }
  }

  private mutating func put(_ deliveries: [Delivery], at now: Int64) {
    for start in stride(from: 0, to: deliveries.count, by: 256) {
      let chunk = Array(deliveries[start..<min(start + 256, deliveries.count)])
      actions.submissions.append(waiting(.wait(chunk), at: now))
    }
  }

  /// The writer's queue was full: what is still queued holds back the settled revision again. The records
  /// are not sent a second time: they could arrive after the end of what they speak of.
  mutating func unsettle(_ deliveries: [Delivery]) {
    let events = Set(deliveries.map(\.event))
    for orderingKey in Set(deliveries.compactMap(\.orderingKey)) {
      queue.updateBehind(orderingKey) { if events.contains($0.event) { $0.isUnsettled = true } }
    }
  }

  /// The records of deliveries that wait for the head of their key.
  func waiting(_ purpose: WriterRequest.Purpose, at now: Int64) -> WriterRequest {
    let deliveries: [Delivery]
    switch purpose {
    case .wait(let waiting), .spill(let waiting): deliveries = waiting
    default: preconditionFailure("Only waiting deliveries are recorded as such.")
    }
    guard let first = deliveries.first else { preconditionFailure("There is always one that waits.") }
    var request = request(in: first.namespace)
    request.triggers.deliveries = deliveries.map { delivery in
      delivery.record(
        .waiting, function: functions[delivery.function].name, nextAttemptAt: now,
        lastError: "waits for an earlier event of its key, which is tried again first", at: now)
    }
    return WriterRequest(request: request, purpose: purpose)
  }
}

/// Memory holds only some of what waits behind a failing event of its key. The rest has delivery records and is *spilled* to
/// storage: the key's queue is refilled from there when what is in memory is drained.
extension DispatchState {
  /// Whether new deliveries of the key have to be spilled.
  func isFull(_ orderingKey: OrderingKey?) -> Bool {
    queue.isSpilled(orderingKey) || queue.isDrained(orderingKey)
      || (queue.isHeld(orderingKey) && queue.behindCount(orderingKey) >= options.behindMax)
  }

  /// Spills deliveries of one key: they come to rest when their records are durable. The key is spilled from then
  /// on.
  mutating func spill(_ deliveries: [Delivery], of orderingKey: OrderingKey, at now: Int64) {
    queue.markSpilled(orderingKey)
    for start in stride(from: 0, to: deliveries.count, by: 256) {
      let chunk = Array(deliveries[start..<min(start + 256, deliveries.count)])
      spilling[orderingKey, default: 0] += 1
      actions.submissions.append(waiting(.spill(chunk), at: now))
    }
  }

  /// The records are durable.
  mutating func spilled(_ deliveries: [Delivery]) {
    for var delivery in deliveries {
      settle(&delivery)
      end(delivery)
    }
    guard let orderingKey = deliveries.first?.orderingKey, let count = spilling[orderingKey] else { return }
    spilling[orderingKey] = count > 1 ? count - 1 : nil
    if count == 1, queue.isDrained(orderingKey) { refills.append(orderingKey) }
  }

  /// Has drained keys refilled; those whose records are still on their way wait for them.
  mutating func collectDrainedKeys() {
    for orderingKey in queue.takeDrained() where spilling[orderingKey] == nil { refills.append(orderingKey) }
  }

  /// Takes in what was spilled.
  ///
  /// - `isAll`: whether storage had no more.
  mutating func refill(_ orderingKey: OrderingKey, _ records: [DeliveryRecord], isAll: Bool) {
    // Also while what was kept for it is read: nothing else would refill the key.
    guard queue.isDrained(orderingKey), functions[orderingKey.function].phase != .paused else { return }
    let deliveries = records.compactMap { delivery($0, in: orderingKey.namespace) }
    for delivery in deliveries { begin(delivery) }
    queue.refill(orderingKey, deliveries, isAll: isAll)
  }
}
