import AdminAPI
import PlayerLifecycle
import RealtimeAPI
import StorageCore
import TreeModel
package import Triggers

/// The dispatcher as the API targets see it.
struct FunctionAdminAdapter: FunctionOperating, EffectsWaiting {
  let dispatcher: Dispatcher
  let engine: any StorageEngine

  var problems: [String] { dispatcher.unhealthyReasons }

  var descriptions: [FunctionDescription] { dispatcher.table.definitions.map(FunctionDescription.init) }

  var paces: [FunctionPaceReport] {
    dispatcher.functions.map { function in
      FunctionPaceReport(
        function: function.name, isInline: function.isInline, inlineRuns: function.counts.inline, meanTime: function.meanTime)
    }
  }

  var tallies: [FunctionTally] {
    dispatcher.functions.map { function in
      var tally = FunctionTally(function: function.name)
      tally.endings = [
        .done: function.counts.done, .skipped: function.counts.skipped, .repeated: function.counts.alreadyDone,
        .failed: function.counts.failed,
      ]
      (tally.timeouts, tally.deadLetters) = (function.counts.timedOut, function.counts.dead)
      (tally.measuredRuns, tally.nanoseconds) = (function.time.runs, function.time.nanoseconds)
      tally.slowest = function.time.slowest
      (tally.p50, tally.p95, tally.p99) = (
        function.time.longest(ofShare: 0.5), function.time.longest(ofShare: 0.95), function.time.longest(ofShare: 0.99)
      )
      tally.spans = function.time.spans
      (tally.inlineRuns, tally.isInline, tally.isPaused) = (function.counts.inline, function.isInline, function.isPaused)
      return tally
    }
  }

  var backlog: FunctionBacklog {
    let found = dispatcher.backlog
    var backlog = FunctionBacklog()
    (backlog.ready, backlog.behind, backlog.held) = (found.ready, found.behind, found.held)
    (backlog.running, backlog.threads, backlog.lagging) = (found.running, found.threads, found.lagging)
    backlog.oldest = found.oldest.map { FunctionBacklog.Place(namespace: $0.namespace, revision: $0.revision) }
    return backlog
  }

  func functionRecords() throws -> [FunctionRecord] {
    do {
      return try engine.read { snapshot in try snapshot.functions() }
    } catch {
      throw OperationError(.unavailable, "\(error)")
    }
  }

  func pause(_ function: String, reason: String, by actor: Actor) async throws {
    try await mappingErrors { try await dispatcher.pause(function, because: reason) }
  }

  func resume(_ function: String, by actor: Actor) async throws {
    try await mappingErrors { try await dispatcher.resume(function) }
  }

  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws -> Int {
    guard dispatcher.table[function] != nil else {
      throw OperationError(.notFound, "No function is called \(function). List them to see their names.")
    }
    return try await mappingErrors { try await dispatcher.retryDeadLetters(in: namespace, of: function) }
  }

  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws {
    try await mappingErrors { _ = try dispatcher.redeliver(event, in: namespace) }
  }

  func forget(_ namespace: NamespaceID) {
    dispatcher.forget(namespace)
  }

  func drain(timeoutMilliseconds: Int64) async -> PlayerLifecycle.DrainReport {
    do {
      let report = try await dispatcher.drain(timeout: .milliseconds(timeoutMilliseconds))
      return PlayerLifecycle.DrainReport(isComplete: true, running: [], unfinished: report.unsettled.map(\.run))
    } catch let timeout as DrainTimeout {
      return PlayerLifecycle.DrainReport(isComplete: false, running: timeout.unsettled.map(\.run), unfinished: [])
    } catch {
      return PlayerLifecycle.DrainReport(isComplete: false, running: [], unfinished: [], failure: "\(error)")
    }
  }

  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> EffectsState {
    let report = try? await dispatcher.settlement(of: events, timeout: .milliseconds(timeoutMilliseconds))
    guard let report else { return .pending }
    return .settled(unfinished: report.unsettled.compactMap(\.effect))
  }

  /// Maps the dispatcher's errors to those of the API targets.
  private func mappingErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw OperationError(error)
    }
  }
}

extension UnsettledDelivery {
  /// What a client is told of it; nil for what still runs.
  fileprivate var effect: EffectsState.Unfinished? {
    switch state {
    case .queued, .running: nil
    case .waiting: EffectsState.Unfinished(.waiting, function)
    case .paused: EffectsState.Unfinished(.paused, function)
    case .dead: EffectsState.Unfinished(.dead, function)
    }
  }

  fileprivate var run: PlayerLifecycle.DrainReport.Run {
    .init(event: event, function: function, state: state.rawValue, lastError: lastError)
  }
}

extension StartReport {
  /// The report in plain sentences, one for each finding; none if all is as it was.
  package var lines: [String] {
    var lines: [String] = []
    func say(_ names: [String], _ sentence: (String) -> String) {
      if !names.isEmpty { lines.append(sentence(names.joined(separator: ", "))) }
    }
    say(new) { "New functions, which see events from now on: \($0)." }
    say(missing) { "Functions that are no longer registered; their waiting events became dead letters: \($0)." }
    say(changed) { "Functions with another pattern or kind than before: \($0)." }
    say(paused) { "Paused functions: \($0). Resume one with \"doubloon functions resume NAME\"." }
    say(crashed) { "The last process died of this run, which counts as a failed attempt: \($0)." }
    say(suspects) { "The last process died during these runs, which are tried again one at a time: \($0)." }
    say(barred) {
      "The last process died during these runs on the writer; their functions run on threads until they have proved themselves, "
        + "or an administrator resumes them: \($0)."
    }
    if deadLetters > 0 { lines.append("\(deadLetters) waiting events of missing functions became dead letters.") }
    if waiting > 0 { lines.append("\(waiting) failed events wait for their next attempt.") }
    return lines
  }
}
