import StorageCore

extension DispatchState {
  /// The delivery counts for waiters from now on.
  mutating func begin(_ delivery: Delivery) {
    namespaces[delivery.namespace]?.tracker.begin(delivery.facts.revision, root: delivery.root)
  }

  /// The delivery has come to rest: it is finished, or waits for a time or a person.
  mutating func end(_ delivery: Delivery) {
    let quiet = namespaces[delivery.namespace]?.tracker.end(delivery.facts.revision, root: delivery.root) ?? []
    for waiter in quiet { release(waiter) }
  }

  /// The delivery has a durable end, or a delivery record.
  mutating func settle(_ delivery: inout Delivery) {
    guard delivery.isUnsettled else { return }
    delivery.isUnsettled = false
    namespaces[delivery.namespace]?.tracker.settle(delivery.facts.revision)
  }

  mutating func addWaiter() -> Int {
    lastWaiterID += 1
    waiters[lastWaiterID] = Waiter()
    return lastWaiterID
  }

  /// One of the things that a waiter waits for has happened.
  mutating func release(_ id: Int) {
    guard waiters[id] != nil else { return }
    waiters[id]?.remaining -= 1
    if waiters[id]?.remaining == 0, waiters[id]?.continuation != nil { finishWaiter(id, isReady: true) }
  }

  /// Ends a wait.
  mutating func finishWaiter(_ id: Int, isReady: Bool) {
    for namespace in namespaces.keys { namespaces[namespace]?.drains.removeAll { $0.waiter == id } }
    guard let continuation = waiters[id]?.continuation.take() else {
      waiters[id]?.isOver = true
      return
    }
    waiters[id] = nil
    aftermath.released.append((continuation, isReady))
  }

  /// Keeps the continuation of a waiter, unless there is nothing to wait for (any more).
  ///
  /// - Returns: whether everything has happened already; nil if the continuation is kept.
  mutating func suspend(_ id: Int, _ continuation: CheckedContinuation<Bool, Never>) -> Bool? {
    guard let waiter = waiters[id], !waiter.isOver else {
      waiters[id] = nil
      return false
    }
    guard waiter.remaining > 0 else {
      finishWaiter(id, isReady: true)
      waiters[id] = nil
      return true
    }
    waiters[id]?.continuation = continuation
    return nil
  }

  /// Waits for a root, if it is active.
  mutating func watch(_ root: Revision, in namespace: NamespaceID, for id: Int) {
    if namespaces[namespace]?.tracker.watch(root, for: id) == true { waiters[id]?.remaining += 1 }
  }

  /// Waits for everything in a namespace up to its last event.
  ///
  /// - Parameter isTold: whether the inbox has had everything up to there. Then an event that was not taken in will not come:
  ///   a replay found it in the log of an older commit.
  mutating func drain(_ namespace: NamespaceID, through last: EventID?, isTold: Bool, for id: Int) {
    guard let state = namespaces[namespace] else { return }
    if let last, !state.tracker.hasAbsorbed(last) {
      namespaces[namespace]?.drains.append((id, last.revision))
      if state.isLagging || state.isLoading {
        namespaces[namespace]?.followers.append(id)
        waiters[id]?.remaining += 1
      } else if !isTold {
        namespaces[namespace]?.tracker.expect(last.revision, root: last.revision)
      }
    }
    for root in namespaces[namespace]?.tracker.activeRoots ?? [] { watch(root, in: namespace, for: id) }
  }

  /// Lets waiters for everything up to a revision see what has come in since they began.
  mutating func watchNewRoot(_ root: Revision, in namespace: NamespaceID) {
    guard let drains = namespaces[namespace]?.drains, !drains.isEmpty else { return }
    for drain in drains where root <= drain.through { watch(root, in: namespace, for: drain.waiter) }
  }
}
