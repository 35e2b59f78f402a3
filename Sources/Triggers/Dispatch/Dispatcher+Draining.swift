package import StorageCore

extension Dispatcher {
  /// How many deliveries a report lists.
  private static let listMax = 100
  /// How many events a report looks at for what became of them.
  private static let causedMax = 1000

  /// Waits until the events that were committed before the call, and what they cause, are settled.
  ///
  /// A delivery that waits for a retry, is paused or is a dead letter counts as settled and is listed. Retries that are due
  /// are run. Nothing is polled: the wait ends with the change that ends it.
  ///
  /// - `namespaces`: which ones; nil for all.
  /// - Throws: ``DrainTimeout`` if it takes longer than `timeout`.
  @discardableResult
  package func drain(_ namespaces: [NamespaceID]? = nil, timeout: Duration = .seconds(30)) async throws -> DrainReport {
    fireTimers()
    let isTold = await awaitWriter(in: withState { $0.namespaces.keys.first })
    let heads = try engine.read { (snapshot) throws(StorageError) -> [(NamespaceID, EventID?)] in
      var heads: [(NamespaceID, EventID?)] = []
      let known = try snapshot.namespaces().map(\.id)
      for namespace in namespaces ?? known {
        heads.append((namespace, try snapshot.events(in: namespace, before: nil, limit: 1).first?.id))
      }
      return heads
    }
    let waiter = withState { state in
      let waiter = state.addWaiter()
      for (namespace, last) in heads { state.drain(namespace, through: last, isTold: isTold, for: waiter) }
      return waiter
    }
    return try await wait(waiter, in: heads.map(\.0), timeout: timeout)
  }

  /// Waits until these events, and what they cause, are settled: what `X-Doubloon-Wait: effects` asks for.
  ///
  /// - `events`: the events of a receipt.
  /// - Throws: ``DrainTimeout`` if it takes longer than `timeout`.
  @discardableResult
  package func settlement(of events: [EventRecord], timeout: Duration = .seconds(30)) async throws -> DrainReport {
    guard !events.isEmpty else { return DrainReport(unsettled: []) }
    let waiter = withState { state in
      let waiter = state.addWaiter()
      for event in events { state.watch(event, for: waiter) }
      return waiter
    }
    try await wait(waiter, timeout: timeout)
    await awaitWriter(in: events.first?.namespace)
    return DrainReport(unsettled: try restingDeliveries(of: events))
  }

  /// The deliveries that wait, are paused or are dead, of these events and of those that they caused.
  private func restingDeliveries(of events: [EventRecord]) throws -> [UnsettledDelivery] {
    try engine.read { (snapshot) throws(StorageError) in
      var found: [UnsettledDelivery] = []
      var (rest, seen) = (events[...], events.count)
      while found.count < Self.listMax, let event = rest.popFirst() {
        found += try snapshot.deliveries(in: event.namespace, of: event.id).map { UnsettledDelivery($0, in: event.namespace) }
        for execution in try snapshot.executions(in: event.namespace, of: event.id) {
          guard let effect = execution.effect, seen < Self.causedMax else { continue }
          let start = EventPosition(revision: effect, path: nil)
          let caused = try snapshot.events(in: event.namespace, after: start, limit: Self.listMax)
            .filter { $0.id.revision == effect }
          seen += caused.count
          rest += caused
        }
      }
      return found
    }
  }

  private func wait(_ waiter: Int, in namespaces: [NamespaceID], timeout: Duration) async throws -> DrainReport {
    try await wait(waiter, timeout: timeout)
    await awaitWriter(in: namespaces.first)
    return DrainReport(unsettled: try restingDeliveries(in: namespaces))
  }

  /// Waits for what was given to the writer before, by an empty request, which is answered behind it and costs no fsync: the
  /// records that were sent are durable then (one that waits behind another comes to rest while its record is on its way), and
  /// the dispatcher was told of all that was committed.
  ///
  /// - Returns: false if the writer's queue is full, or it has stopped: it has written what it will ever write then.
  @discardableResult
  private func awaitWriter(in namespace: NamespaceID?) async -> Bool {
    guard let namespace else { return true }
    return (try? await commit(withState { $0.request(in: namespace) })) != nil
  }

  /// Waits for the waiter's events, or for the time, whatever is first.
  private func wait(_ waiter: Int, timeout: Duration) async throws {
    let isReady = await withTaskGroup(of: Bool.self) { group in
      group.addTask { await self.suspend(waiter) }
      group.addTask {
        try? await self.options.waitClock.sleep(until: self.options.waitClock.now() + timeout.wholeMilliseconds)
        return false
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
    guard !isReady else { return }
    try Task.checkCancellation()
    let busy = withState { $0.busyDeliveries(limit: Self.listMax) }
    throw DrainTimeout(unsettled: busy)
  }

  func suspend(_ waiter: Int) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = withState { $0.suspend(waiter, continuation: continuation) }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      withState { $0.finishWaiter(waiter, isReady: false) }
    }
  }

  private func restingDeliveries(in namespaces: [NamespaceID]) throws -> [UnsettledDelivery] {
    try engine.read { (snapshot) throws(StorageError) in
      var found: [UnsettledDelivery] = []
      for namespace in namespaces {
        for state in DeliveryRecord.State.allCases {
          found += try snapshot.deliveries(in: namespace, state: state, after: nil, limit: Self.listMax)
            .map { UnsettledDelivery($0, in: namespace) }
        }
      }
      return found
    }
  }
}

extension DispatchState {
  /// Waits for an event and what it causes. One that was not taken in yet is on its way from the writer, or in storage.
  mutating func watch(_ event: EventRecord, for waiter: Int) {
    guard let tracker = namespaces[event.namespace]?.tracker else { return }
    if !tracker.hasAbsorbed(event.id) {
      namespaces[event.namespace]?.tracker.expect(event.id.revision, root: event.id.revision)
    }
    let root = namespaces[event.namespace]?.tracker.root(of: event.id.revision) ?? event.id.revision
    watch(root, in: event.namespace, for: waiter)
  }

  /// Deliveries that are queued or running.
  func busyDeliveries(limit: Int) -> [UnsettledDelivery] {
    let running = active.values.map {
      UnsettledDelivery($0.delivery, .running, function: functions[$0.delivery.function].name)
    }
    let queued = queue.prefix(limit).map { UnsettledDelivery($0, .queued, function: functions[$0.function].name) }
    return Array((running + queued).prefix(limit))
  }
}

/// What a drain left behind: deliveries that wait for a retry, are paused, or are dead letters.
package struct DrainReport: Sendable, Hashable {
  /// What is left, each for an attempt, a function or a person to come; empty if every event ended well.
  package let unsettled: [UnsettledDelivery]

  package init(unsettled: [UnsettledDelivery]) {
    self.unsettled = unsettled
  }
}

/// Events were not settled in time; those that still run or are queued come first.
package struct DrainTimeout: Error, Sendable, CustomStringConvertible {
  /// What was not finished when the time was over.
  package let unsettled: [UnsettledDelivery]

  package var description: String {
    let shown = unsettled.prefix(10).map(\.description).joined(separator: "; ")
    return "The events were not settled in time. Wait longer, or look at these: \(shown)"
  }
}

/// An event that some function has not finished.
package struct UnsettledDelivery: Sendable, Hashable, CustomStringConvertible {
  /// How far the delivery is.
  package enum State: String, Sendable, Hashable {
    /// Behind another of its ordering key, or waiting for a runner.
    case queued
    case running
    /// Waits for a retry.
    case waiting
    case paused
    case dead
  }

  /// Whose event it is.
  package let namespace: NamespaceID
  /// Which event.
  package let event: EventID
  /// Which function has not finished it.
  package let function: String
  /// How far it is.
  package let state: State
  /// The last failure; nil if there was none.
  package let lastError: String?

  init(_ record: DeliveryRecord, in namespace: NamespaceID) {
    self.namespace = namespace
    event = record.event
    function = record.function
    state =
      switch record.state {
      case .waiting: .waiting
      case .paused: .paused
      case .dead: .dead
      }
    lastError = record.lastError
  }

  init(_ delivery: Delivery, _ state: State, function: String) {
    namespace = delivery.namespace
    event = delivery.event
    self.function = function
    self.state = state
    lastError = nil
  }

  package var description: String {
    "\(function) for \(event) is \(state.rawValue)\(lastError.map { ": \($0)" } ?? "")"
  }
}
