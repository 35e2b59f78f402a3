import Synchronization
import FunctionsKit
import StorageCore

extension DispatchState {
  /// Whether a runner has something to do.
  var hasWork: Bool {
    isStopping || (canRun && (lanes.readyCount > 0 || !quarantine.isEmpty))
      || (lanes.count < options.eventsLow && (!loads.isEmpty || !refills.isEmpty || !resumes.isEmpty))
  }

  /// Ends all work.
  ///
  /// - Returns: the runs under way, which count no more, and requests that store how far the namespaces are settled.
  mutating func stop() -> ([Run], [CommitRequest]) {
    isStopping = true
    let running = Array(active.values)
    active = [:]
    aloneRun = nil
    var requests: [CommitRequest] = []
    for (id, namespace) in namespaces where namespace.watermark > namespace.sentWatermark {
      var request = request(in: id)
      request.settledRevision = namespace.watermark
      requests.append(request)
    }
    for function in functions.indices { releaseResume(function, isDone: false) }
    for id in Array(waiters.keys) { finishWaiter(id, isReady: false) }
    return (running, requests)
  }

  /// A runner has ended.
  mutating func endRunner() {
    runnerCount -= 1
    if runnerCount == 0 { aftermath.stopped = stopWaiter.take() }
  }

  /// Gives up waiting for runners: a function does not come back.
  mutating func stopWaiting() {
    aftermath.stopped = stopWaiter.take()
  }

  /// Drops everything of a namespace that does not exist any more.
  mutating func forget(_ namespace: NamespaceID) {
    guard let state = namespaces[namespace] else { return }
    let isIts = { (delivery: Delivery) in delivery.namespace == namespace }
    lanes.removeAll(where: isIts, lanesWhere: { $0.namespace == namespace })
    _ = quarantine.remove(where: isIts)
    shelving = shelving.filter { $0.key.namespace != namespace }
    _ = timers.remove { $0.delivery.map(isIts) ?? false }
    skips.removeAll { $0.request.namespace == namespace }
    parks[namespace] = nil
    for waiter in state.tracker.watchers + state.followers { release(waiter) }
    for (id, run) in active where isIts(run.delivery) {
      active[id] = nil
      if aloneRun == id { aloneRun = nil }
      run.context.withLock(\.self)?.abandon()
    }
    namespaces[namespace] = nil
  }
}
