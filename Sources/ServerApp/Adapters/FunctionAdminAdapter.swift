import AdminAPI
import FunctionsKit
import RealtimeAPI
import StorageCore
import TreeModel
package import Triggers

/// What the surfaces ask of the dispatcher, in the surfaces' own words: rooms of two floors meet here.
struct FunctionAdminAdapter: FunctionOperating, EffectsWaiting {
  let dispatcher: Dispatcher
  let engine: any StorageEngine

  var problems: [String] { dispatcher.unhealthyReasons }

  var descriptions: [FunctionDescription] { dispatcher.table.definitions.map(FunctionDescription.init) }

  func functionRecords() throws(OperationError) -> [FunctionRecord] {
    do throws(StorageError) {
      return try engine.read { (snapshot) throws(StorageError) in try snapshot.functions() }
    } catch {
      throw OperationError(.unavailable, error.message)
    }
  }

  func pause(_ function: String, reason: String, by actor: Actor) async throws(OperationError) {
    try await faulting { try await dispatcher.pause(function, because: reason) }
  }

  func resume(_ function: String, by actor: Actor) async throws(OperationError) {
    try await faulting { try await dispatcher.resume(function) }
  }

  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws(OperationError) -> Int {
    guard dispatcher.table[function] != nil else {
      throw OperationError(.notFound, "No function is called \(function). List them to see their names.")
    }
    return try await faulting { try await dispatcher.retryDeadLetters(in: namespace, of: function) }
  }

  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws(OperationError) {
    try await faulting { _ = try dispatcher.redeliver(event, in: namespace) }
  }

  func forget(_ namespace: NamespaceID) {
    dispatcher.forget(namespace)
  }

  func drain(timeoutMilliseconds: Int64) async -> AdminAPI.DrainReport {
    do {
      let report = try await dispatcher.drain(timeout: .milliseconds(timeoutMilliseconds))
      return AdminAPI.DrainReport(isComplete: true, running: [], unfinished: report.unsettled.map(\.json))
    } catch let timeout as DrainTimeout {
      return AdminAPI.DrainReport(isComplete: false, running: timeout.unsettled.map(\.json), unfinished: [])
    } catch {
      let fault: JSON = .object([.init(key: "error", value: .string("\(error)"))])
      return AdminAPI.DrainReport(isComplete: false, running: [fault], unfinished: [])
    }
  }

  func settled(_ events: [EventRecord], timeoutMilliseconds: Int64) async -> EffectsState {
    let report = try? await dispatcher.settlement(of: events, timeout: .milliseconds(timeoutMilliseconds))
    guard let report else { return .pending }
    return .settled(unfinished: report.unsettled.compactMap(\.effect))
  }

  /// Gives the dispatcher's errors the surfaces' form.
  private func faulting<Result>(_ body: () async throws -> Result) async throws(OperationError) -> Result {
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

  fileprivate var json: JSON {
    .object([
      .init(key: "event", value: .string(event.description)), .init(key: "function", value: .string(function)),
      .init(key: "state", value: .string(state.rawValue)), .init(key: "error", value: lastError.map { .string($0) } ?? .null),
    ])
  }
}

extension FunctionDescription {
  /// A registered function, for the surfaces.
  init(_ definition: FunctionDefinition) {
    let kinds: Set<EventRecord.Kind> =
      switch definition.trigger {
      case .onCreate: [.created]
      case .onUpdate: [.updated]
      case .onDelete: [.deleted]
      case .onWrite: [.created, .updated, .deleted]
      }
    let noun =
      switch definition.trigger {
      case .onCreate: "a creation"
      case .onUpdate: "an update"
      case .onDelete: "a removal"
      case .onWrite: "any change"
      }
    let filter = definition.filter
    let settings: [UInt8]? = definition.settings.exists ? definition.settings.json(.plain) : nil
    self.init(
      name: definition.name, formerly: definition.options.formerly, pattern: definition.pattern,
      players: definition.players, kinds: kinds,
      runsOn: noun + filter.words, settings: settings.flatMap { try? JSONParser.parse($0) },
      example: filter.example.map { ($0.before, $0.after) }, admits: { filter(before: $0, after: $1) })
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
    if deadLetters > 0 { lines.append("\(deadLetters) waiting events of missing functions became dead letters.") }
    if waiting > 0 { lines.append("\(waiting) failed events wait for their next attempt.") }
    return lines
  }
}
