import FunctionsKit
import StorageCore

extension DispatchState {
  /// Does what is due.
  ///
  /// - Returns: runs that are over their deadline; they count no more.
  mutating func fire(at now: Int64) -> [Run] {
    while let due = timers.popDue(at: now) {
      switch due {
      case .retry(let delivery):
        begin(delivery)
        free(delivery.lane)
        requeue(delivery)
      case .repetition(let delivery): requeue(delivery)
      case .resend(let submission): aftermath.submissions.append(submission)
      case .load(let namespace): loads.append(namespace)
      case .refill(let lane): refills.append(lane)
      case .flush:
        aftermath.submissions.append(contentsOf: skips)
        skips = []
      }
    }
    let overdue = active.values.filter { $0.deadline <= now }
    for run in overdue { timeOut(run, at: now) }
    wakeTime = nextTime
    return overdue
  }

  /// When the next thing is due.
  private var nextTime: Int64? {
    let deadline = active.values.lazy.map(\.deadline).min()
    guard let timer = timers.earliest else { return deadline }
    return min(timer, deadline ?? timer)
  }

  /// Makes the head of a lane ready again, unless its function is paused meanwhile.
  mutating func requeue(_ delivery: Delivery) {
    guard functions[delivery.function].phase == .paused else { return lanes.requeue(delivery) }
    park(delivery)
    lanes.finish(delivery.lane)
  }

  private mutating func timeOut(_ run: Run, at now: Int64) {
    active[run.id] = nil
    endAlone(run)
    run.runner.leaveBehind()
    runnerCount -= 1
    var delivery = run.delivery
    // The note stays as long as the thread is out: it may still kill the process.
    delivery.noteSlot = nil
    let function = delivery.function
    functions[function].counts.timedOut += 1
    functions[function].abandoned += 1
    let deadline = table.definitions[function].options.deadline
    if functions[function].abandoned >= options.abandonedMax, functions[function].phase != .paused {
      pause(
        function,
        because: "paused by the engine: \(functions[function].abandoned) runs did not come back within \(deadline); "
          + "correct the function, deploy, and resume it", byEngine: true, in: delivery.namespace, at: now)
    }
    fail(delivery, "timeout: the run did not come back within \(deadline)", .retry, startedAt: run.startedAt, at: now)
  }
}
