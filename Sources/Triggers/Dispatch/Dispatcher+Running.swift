import FunctionsKit
import Logging
import StorageCore
import Synchronization
import TreeModel

extension Dispatcher {
  /// Runs functions until the task is cancelled. Call it once, after `start(writer:)`.
  ///
  /// When it returns, nothing more is submitted: runs that were under way are abandoned, and happen again at the next
  /// start.
  package func run() async throws {
    for _ in 0..<options.runnerCount { startRunner() }
    withState { $0.isServing = true }
    while !Task.isCancelled {
      let wakeTime = fireTimers()
      await alarm.wait(until: wakeTime)
    }
    await stop()
  }

  /// Does what is due; the runs that are over their deadline are left behind, each with its thread.
  ///
  /// - Returns: when the next thing is due.
  @discardableResult
  func fireTimers() -> Int64? {
    let now = clock.now()
    let lastUse = inlineRunner.watch.lastUse
    let stall = lastUse.map { (options.inline.meter.elapsed() - $0) / 1_000_000 }
    let (overdue, wakeTime, stalled) = withState { state in
      let overdue = state.fire(at: now)
      let stalled = state.lookAtWriter(stall, at: now)
      return (overdue, state.wakeTime, stalled)
    }
    if stalled { inlineRunner.endProcess(logger) }
    for run in overdue {
      run.abandon()
      startRunner()
    }
    return wakeTime
  }

  private func stop() async {
    let (running, watermarks) = withState { state in state.stop() }
    for run in running { run.abandon() }
    inlineRunner.strays.stop()
    inbox.wake(all: true)
    await runnersEnd()
    for request in watermarks {
      // Only a help for the next start; what the store does not take is looked up then.
      try? await commit(request)
    }
    notes?.clearAll()
  }

  /// Waits until no runner reads the store any more, but not for ever for a function that does not come back.
  private func runnersEnd() async {
    // The task that runs the service is cancelled by now; this wait is not to be.
    let longTimeout = Task.detached { [options] in
      try? await options.waitClock.sleep(until: options.waitClock.now() + options.stopDelay)
      self.withState { $0.stopWaiting() }
    }
    await withCheckedContinuation { continuation in
      let isOver = withState { state in
        if state.runnerCount > 0 { state.stopWaiter = continuation }
        return state.runnerCount == 0
      }
      if isOver { continuation.resume() }
    }
    longTimeout.cancel()
  }

  // MARK: One runner

  private func startRunner() {
    withState { $0.runnerCount += 1 }
    Runner().start { [self] runner in
      await serve(runner)
    }
  }

  private func serve(_ runner: Runner) async {
    var ended: EndedRun?
    while true {
      let work = await nextWork(for: runner, after: ended)
      ended = nil
      switch work {
      case .stop:
        if !runner.isLeftBehind { withState { $0.endRunner() } }
        return
      case .load(let namespace): load(namespace)
      case .refill(let orderingKey): refill(orderingKey)
      case .resume(let function, let kept): resume(function, kept: kept)
      case .run(let run): ended = await measured(run)
      }
    }
  }

  /// Hands in what the last run asked for, and takes the next work; waits until there is some.
  private func nextWork(for runner: Runner, after ended: EndedRun?) async -> DispatchState.Work {
    var ended = ended
    while true {
      let now = clock.now()
      let last = ended.take()
      let work = withState { state -> DispatchState.Work? in
        if let last, !state.end(last, at: now), runner.isLeftBehind { return .stop }
        return state.nextWork(for: runner, at: now)
      }
      if let work { return work }
      await withCheckedContinuation { continuation in
        // The thread that makes work ready holds this lock, and wakes a parked runner afterwards.
        let isParked = state.withLock { state in !state.hasWork && inbox.park(continuation) }
        if !isParked { continuation.resume() }
      }
    }
  }

  /// Performs a run, and says how long it took and whether it suspended.
  private func measured(_ run: Run) async -> EndedRun {
    let (startedAt, jobs) = (options.inline.meter.elapsed(), run.runner.thread.jobCount)
    let ending = await perform(run)
    return EndedRun(
      run: run, ending: ending, nanoseconds: options.inline.meter.elapsed() - startedAt,
      hasSuspended: run.runner.thread.jobCount != jobs)
  }

  private func perform(_ run: Run) async -> RunEnding {
    let definition = table.definitions[run.delivery.function]
    options.failpoint(.committedNotDispatched)
    if let notes, let slot = run.delivery.noteSlot {
      notes.write(
        CrashNote(
          namespace: run.delivery.namespace, event: run.delivery.event, function: definition.name, isAlone: run.isAlone),
        to: slot)
    }
    do {
      return try await execute(run, definition)
    } catch {
      return Self.failure(of: error)
    }
  }

  private func execute(_ run: Run, _ definition: FunctionDefinition) async throws -> RunEnding {
    let delivery = run.delivery
    let input = try RunInput(
      delivery, definition, namespace: name(of: delivery.namespace), engine: engine, options: options,
      now: clock.now())
    run.context.withLock { $0 = input.context }
    options.failpoint(.inHandler)
    return try await attempt(input, delivery: delivery, definition: definition, startedAt: run.startedAt)
  }

  /// Runs a function's body on its input and makes one request of what it asked for.
  func attempt(_ input: RunInput, delivery: Delivery, definition: FunctionDefinition, startedAt: Int64) async throws
    -> RunEnding
  {
    let outcome: Outcome
    do {
      outcome = try await definition.body(input.run, input.context)
    } catch {
      input.context.abandon()
      throw error
    }
    return try conclude(outcome, of: input, delivery: delivery, definition: definition, startedAt: startedAt)
  }

  /// Makes one request of what a run asked for.
  func conclude(
    _ outcome: Outcome, of input: RunInput, delivery: Delivery, definition: FunctionDefinition, startedAt: Int64
  ) throws -> RunEnding {
    var effects = try input.context.finish()
    switch outcome {
    case .skipped(let reason): return .skipped(reason)
    case .done:
      var late = LateWrites(reader: input.reader)
      if delivery.isLate { effects = try late.withholdStale(in: effects) }
      if let reason = late.reason, effects.isEmpty { return .skipped(reason) }
      // A hold that a person ends meanwhile leaves the others' release as it is.
      let leavesOut = effects.postings.contains { $0.ifPaid == .leaveOut } || !effects.releases.isEmpty
      if leavesOut {
        effects = try effects.leavingOut { try $0.ifPaid == .leaveOut && input.reader.isPaid($0.key ?? "") }
      }
      let now = clock.now()
      let execution = ExecutionRecord(
        event: delivery.event, function: definition.name, outcome: .done, reason: late.reason, attempt: delivery.attempts + 1,
        startedAt: startedAt, finishedAt: now, settings: table.settings[delivery.function])
      var request = try EffectRequest(
        delivery: delivery, definition: definition, currencies: options.currencies, reader: input.reader
      ).make(effects, execution: execution, at: now)
      request.preconditions.expectations += late.expectations
      return .effect(request, execution, leavesOutPaid: leavesOut)
    }
  }

  static func failure(of error: any Error) -> RunEnding {
    switch error {
    case let permanent as PermanentError: .failed(permanent.reason, .permanent)
    // The value as of the event's commit does not change.
    case let mismatch as ValueTypeError: .failed(mismatch.description, .permanent)
    case let later as RetryLater: .failed(later.reason, .retryAfter(later.delay.wholeMilliseconds))
    default: .failed("\(error)", .retry)
    }
  }
}

extension Dispatcher {
  /// Reads what was spilled of a key. Runs on a runner.
  func refill(_ orderingKey: OrderingKey) {
    let definition = table.definitions[orderingKey.function]
    // What is spilled from now on may be missed by this read.
    withState { $0.queue.expectRefill(orderingKey) }
    do throws(StorageError) {
      let (found, isAll) = try engine.read { (snapshot) throws(StorageError) in
        var found: [DeliveryRecord] = []
        var last = DeliveryRecord(place: ReplayItem(event: .first, function: definition.name))
        while found.count < options.behindMax {
          let page = try snapshot.deliveries(in: orderingKey.namespace, state: .waiting, after: last, limit: 512)
          for record in page where record.function == definition.name {
            guard let path = record.event.path.path else { continue }
            let capture = definition.pattern.match(path)?.first?.value ?? ""
            if Key(unchecked: capture) == orderingKey.capture { found.append(record) }
          }
          guard let next = page.last, page.count == 512, next.function == definition.name else { return (found, true) }
          last = next
        }
        return (found, false)
      }
      withState {
        $0.refill(orderingKey, Array(found.prefix(options.behindMax)), isAll: isAll && found.count <= options.behindMax)
      }
    } catch {
      logger.error("What \(definition.name) left in storage cannot be read: \(error)")
      let now = clock.now()
      withState { state in
        state.timers.add(.refill(orderingKey), at: now + 1000)
        state.wake(by: now + 1000)
      }
    }
  }

  /// Reads a page of what was kept for a function that is being resumed. Runs on a runner.
  func resume(_ function: Int, kept: KeptDeliveries) {
    var kept = kept
    do throws(StorageError) {
      let page = try engine.read { (snapshot) throws(StorageError) in try kept.page(512, from: snapshot) }
      let next = kept
      withState { $0.resume(function, with: page, next: next) }
    } catch {
      logger.error("What was kept for \(table.definitions[function].name) cannot be read: \(error)")
      withState { $0.endResume(function, isDone: false) }
    }
  }
}
