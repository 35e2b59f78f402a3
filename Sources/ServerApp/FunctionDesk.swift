import AdminAPI
import RealtimeAPI
import StorageCore
import TreeModel
import Triggers

/// What the surfaces ask of the dispatcher, in the surfaces' own words: rooms of two floors meet here.
struct FunctionDesk: FunctionOperating, EffectsWaiting {
  let dispatcher: Dispatcher
  let engine: any StorageEngine

  var problems: [String] { dispatcher.unhealthyReasons }

  var descriptions: [FunctionDescription] { dispatcher.table.definitions.map(FunctionDescription.init) }

  func functionRecords() throws(OperationFault) -> [FunctionRecord] {
    do throws(StorageError) {
      return try engine.read { (snapshot) throws(StorageError) in try snapshot.functions() }
    } catch {
      throw OperationFault(.unavailable, error.message)
    }
  }

  func pause(_ function: String, reason: String, by actor: Actor) async throws(OperationFault) {
    try await faulting { try await dispatcher.pause(function, because: reason) }
  }

  func resume(_ function: String, by actor: Actor) async throws(OperationFault) {
    try await faulting { try await dispatcher.resume(function) }
  }

  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault) -> Int {
    guard dispatcher.table[function] != nil else {
      throw OperationFault(.notFound, "No function is called \(function). List them to see their names.")
    }
    return try await faulting { try await dispatcher.retryDeadLetters(in: namespace, of: function) }
  }

  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault) {
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
  private func faulting<Result>(_ body: () async throws -> Result) async throws(OperationFault) -> Result {
    do {
      return try await body()
    } catch {
      throw OperationFault(error)
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
