import Logging
import FunctionsKit
import StorageCore
import TreeModel

extension Dispatcher {
  /// How many events are read at once.
  private static let pageSize = 512

  /// Reads a namespace's events from storage, from where the dispatcher stands, until it has caught up with the writer or
  /// holds enough. Runs on a runner.
  func load(_ namespace: NamespaceID) {
    do throws(StorageError) {
      while true {
        guard try loadPage(namespace) == Self.pageSize else { break }
        let isFull = withState { $0.lanes.count >= options.eventsLow }
        if isFull { return finishLoading(namespace, isComplete: false) }
      }
      // From here on the inbox keeps what is committed. What was committed before is in storage: read once more.
      withState { $0.namespaces[namespace]?.isLagging = false }
      inbox.follow(namespace)
      while try loadPage(namespace) == Self.pageSize {}
      finishLoading(namespace, isComplete: true)
    } catch {
      logger.error("The events of namespace \(namespace.rawValue) cannot be read: \(error)")
      withState { state in state.loadLater(namespace, at: clock.now()) }
    }
  }

  private func finishLoading(_ namespace: NamespaceID, isComplete: Bool) {
    let now = clock.now()
    withState { $0.finishLoading(namespace, isComplete: isComplete, at: now) }
  }

  /// - Returns: how many events were read.
  private func loadPage(_ namespace: NamespaceID) throws(StorageError) -> Int {
    guard let position = withState({ $0.namespaces[namespace]?.tracker.absorbed }) else { return 0 }
    let page = try engine.read { (snapshot) throws(StorageError) in
      try LoadedEvent.page(of: namespace, after: position, limit: Self.pageSize, from: snapshot)
    }
    let now = clock.now()
    withState { state in
      for event in page { state.absorb(event, at: now) }
      state.noteAbsorbed(namespace)
    }
    return page.count
  }
}

extension DispatchState {
  /// Takes in an event from storage, for the functions that have not handled it.
  mutating func absorb(_ event: LoadedEvent, at now: Int64) {
    let wanting = wanting(event.facts, change: event.change).filter { function in
      let definition = table.definitions[function]
      return !event.known.contains(definition.name) && event.known.isDisjoint(with: definition.options.formerly)
    }
    absorb(event.facts, wanting: wanting, parent: event.parent, at: now)
    var unknown: [DeliveryRecord] = []
    for function in missing where function.wanted(event.facts.record, at: event.facts.path) {
      guard !event.known.contains(function.record.name), event.facts.record.hop <= options.limits.hopsMax else { continue }
      unknown.append(.unknownFunction(function.record.name, event.facts.record, at: now))
    }
    if !unknown.isEmpty { aftermath.submissions.append(letters(unknown, in: event.facts.namespace)) }
  }

  func letters(_ records: [DeliveryRecord], in namespace: NamespaceID) -> Submission {
    var request = request(in: namespace)
    request.deliveries = records
    return Submission(request: request, purpose: .letters(records, namespace))
  }

  /// Storage could not be read: tries again in a second.
  mutating func loadLater(_ namespace: NamespaceID, at now: Int64) {
    namespaces[namespace]?.isLoading = false
    namespaces[namespace]?.isLagging = true
    timers.add(.load(namespace), at: now + 1000)
    wake(by: now + 1000)
  }
}

extension DeliveryRecord {
  /// A dead letter for a function that nobody registered any more.
  static func unknownFunction(_ name: String, _ event: EventRecord, at now: Int64) -> DeliveryRecord {
    DeliveryRecord(
      event: event.id, kind: event.kind, hop: event.hop, function: name, state: .dead, attempts: 0, crashes: 0,
      nextAttemptAt: 0,
      lastError: "unknown_function: \(name) is not registered any more. Register it, or name it in `formerly` of the function "
        + "that took its place.", updatedAt: now)
  }
}
