import FunctionsKit
import StorageCore
import Synchronization

/// Runs functions without letting anything come of it: for previews, dry runs, and the report of a rebuild.
///
/// The runs share one thread, which is left behind if a function does not come back by its deadline. They leave no crash
/// notes: a death in a trial must not make anything run at the next start.
struct TrialRunner: Sendable {
  let dispatcher: Dispatcher

  /// A run to be made.
  struct Trial: Sendable {
    let delivery: Delivery
    let definition: FunctionDefinition
    /// Reads what the function is given.
    let input: @Sendable () throws -> RunInput
  }

  /// Where the runs stand, for the one who watches the time.
  private final class Progress: Sendable {
    struct State {
      var endings: [RunEnding] = []
      var context: FunctionContext?
      var deadline = Int64.max
      var waiter: CheckedContinuation<[RunEnding], Never>?
    }

    let state = Mutex(State())

    /// Ends the wait with what there is; the first call counts.
    func finish() {
      let (waiter, endings) = state.withLock { state in
        state.context?.abandon()
        return (state.waiter.take(), state.endings)
      }
      waiter?.resume(returning: endings)
    }
  }

  /// Runs the functions of these pairs, one after the other.
  ///
  /// - Returns: how each ended; one that did not come back counts as failed, and so does everything behind it.
  func run(_ pairs: [ReplayPair]) async -> [RunEnding] { await run(pairs.map { trial(of: $0) }) }

  /// Makes runs, one after the other.
  func run(_ trials: [Trial]) async -> [RunEnding] {
    guard !trials.isEmpty else { return [] }
    let progress = Progress()
    let watch = watch(progress)
    var endings = await withCheckedContinuation { continuation in
      progress.state.withLock { $0.waiter = continuation }
      // A runner, and not a child of this task: a function that never returns must not keep it.
      Runner().start { _ in
        for trial in trials where progress.state.withLock({ $0.waiter != nil }) {
          let ending = await attempt(trial, progress: progress)
          progress.state.withLock { $0.endings.append(ending) }
        }
        progress.finish()
      }
    }
    watch.cancel()
    let count = endings.count
    for index in count..<trials.count {
      let isFirst = index == count
      endings.append(
        .failed(isFirst ? "timeout: the run did not come back" : "not tried: an earlier run did not come back", .retry))
    }
    return endings
  }

  private func trial(of pair: ReplayPair) -> Trial {
    let definition = dispatcher.table.definitions[pair.function]
    let facts = EventFacts(record: pair.event, path: pair.event.id.path.path ?? .root, commit: nil)
    var delivery = Delivery(facts, to: pair.function, of: definition, root: facts.revision)
    // What was handled before is tried as it was: at its time.
    if case .finished = pair.status { delivery.isAgain = false } else { delivery.isAgain = true }
    return Trial(delivery: delivery, definition: definition) { [dispatcher, delivery] in
      try RunInput(
        delivery, definition, namespace: dispatcher.name(of: facts.namespace), engine: dispatcher.engine,
        options: dispatcher.options, now: dispatcher.clock.now())
    }
  }

  /// Ends the wait when a run is over its deadline.
  private func watch(_ progress: Progress) -> Task<Void, Never> {
    // Detached: it has to fire although the caller waits, and it is cancelled by the caller.
    Task.detached { [clock = dispatcher.clock] in
      while !Task.isCancelled {
        let deadline = progress.state.withLock { $0.deadline }
        let now = clock.now()
        if deadline <= now { return progress.finish() }
        try? await clock.sleep(until: min(deadline, now + 1000))
      }
    }
  }

  private func attempt(_ trial: Trial, progress: Progress) async -> RunEnding {
    do {
      let input = try trial.input()
      let now = dispatcher.clock.now()
      progress.state.withLock { state in
        state.context = input.context
        state.deadline = now + trial.definition.options.deadline.wholeMilliseconds
      }
      return try await dispatcher.attempt(input, delivery: trial.delivery, definition: trial.definition, startedAt: now)
    } catch {
      return Dispatcher.failure(of: error)
    }
  }
}
