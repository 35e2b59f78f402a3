import Logging
import StorageCore
import TreeModel

extension DispatchState {
  /// Takes in what the writer handed over.
  mutating func absorb(_ contents: Inbox.Contents, at now: Int64) {
    for arrival in contents.arrivals { absorb(arrival, at: now) }
    for namespace in contents.lagging { fallBehind(namespace) }
    for (purpose, result) in contents.completions { complete(purpose, result, at: now) }
  }

  /// Takes in the events of one commit.
  mutating func absorb(_ arrival: Arrival, at now: Int64) {
    let namespace = arrival.namespace
    if namespaces[namespace] == nil { namespaces[namespace] = NamespaceState(settled: .zero) }
    if namespaces[namespace]?.isLoading == true || namespaces[namespace]?.isLagging == true {
      namespaces[namespace]?.held.append(arrival)
      return
    }
    for event in arrival.events {
      guard namespaces[namespace]?.tracker.hasAbsorbed(event.id) == false, let path = event.id.path.path else { continue }
      let facts = EventFacts(record: event, path: path, commit: arrival.commit)
      if event.hop > options.limits.hopsMax {
        remarkEndOfChain(facts, change: arrival.commit.changes?.change(at: event.id.path))
      }
      absorb(
        facts, wanting: wanting(facts, change: arrival.commit.changes?.change(at: event.id.path)), parent: arrival.parent,
        at: now)
    }
    noteAbsorbed(namespace)
  }

  /// The functions that an event is for. Those beyond the hop limit have their dead letters from the event's commit.
  func wanting(_ facts: EventFacts, change: LeafChange?) -> [Int] {
    guard facts.record.hop <= options.limits.hopsMax else { return [] }
    return table.wanting(facts.record.id.path, facts.record.kind, change: change).filter {
      !functions[$0].isNew(for: facts.record)
    }
  }

  /// Says which functions started each other too often: their dead letters came with the event's commit.
  private mutating func remarkEndOfChain(_ facts: EventFacts, change: LeafChange?) {
    let names = table.wanting(facts.record.id.path, facts.record.kind, change: change).map { functions[$0].name }
    let (name, event, hop) = (names.joined(separator: ", "), facts.record.id, facts.record.hop)
    aftermath.remarks.append(
      (.error, "\(name) gave up on \(event): functions started each other \(hop) times; \(options.limits.hopsMax) may."))
  }

  /// Takes in one event for these functions.
  mutating func absorb(_ facts: EventFacts, wanting: [Int], parent: Revision?, at now: Int64) {
    let namespace = facts.namespace
    let root =
      namespaces[namespace]?.tracker.absorb(facts.record.id, functions: wanting.count, parent: parent) ?? facts.revision
    for function in wanting {
      var delivery = Delivery(facts, to: function, of: table.definitions[function], root: root)
      delivery.isUnsettled = true
      begin(delivery)
      route(delivery)
    }
    watchNewRoot(root, in: namespace)
  }

  /// Sends a delivery where its function's phase wants it.
  mutating func route(_ delivery: Delivery) {
    switch functions[delivery.function].phase {
    case .active: queue(delivery)
    case .paused: park(delivery)
    case .resuming:
      if delivery.isUnsettled, !functions[delivery.function].isCatchingUp {
        park(delivery)
      } else {
        functions[delivery.function].held.append(delivery)
      }
    }
  }

  mutating func park(_ delivery: Delivery) {
    functions[delivery.function].parking += 1
    parks[delivery.namespace, default: []].append(delivery)
  }

  mutating func collectParks(at now: Int64) {
    for deliveries in parks.values {
      for start in stride(from: 0, to: deliveries.count, by: 256) {
        let chunk = Array(deliveries[start..<min(start + 256, deliveries.count)])
        aftermath.submissions.append(parking(chunk, isLate: false, at: now))
      }
    }
    parks = [:]
  }

  /// The records of deliveries of a namespace whose functions are paused.
  func parking(_ deliveries: [Delivery], isLate: Bool, at now: Int64) -> Submission {
    guard let first = deliveries.first else { preconditionFailure("There is always one that is parked.") }
    var request = request(in: first.namespace)
    request.deliveries = deliveries.map { delivery in
      let function = functions[delivery.function]
      return delivery.record(
        .paused, function: function.name, lastError: function.pauseReason ?? "The function was paused.", at: now)
    }
    return Submission(request: request, purpose: .park(deliveries, isLate: isLate))
  }

  // MARK: Lagging

  /// The namespace's events are loaded from storage from now on, from where it stands.
  mutating func fallBehind(_ namespace: NamespaceID) {
    if namespaces[namespace] == nil { namespaces[namespace] = NamespaceState(settled: .zero) }
    guard namespaces[namespace]?.isLagging == false else { return }
    namespaces[namespace]?.isLagging = true
    // While a runner loads it, what it does at the end brings the namespace here again.
    if namespaces[namespace]?.isLoading == false { loads.append(namespace) }
  }

  /// A runner has caught up with the namespace, or leaves off.
  ///
  /// - Parameter isComplete: whether nothing is left in storage that the inbox will not bring.
  mutating func finishLoading(_ namespace: NamespaceID, isComplete: Bool, at now: Int64) {
    guard namespaces[namespace] != nil else { return }
    namespaces[namespace]?.isLoading = false
    guard isComplete else { return loads.append(namespace) }
    let held = namespaces[namespace]?.held ?? []
    namespaces[namespace]?.held = []
    let laggedAgain = namespaces[namespace]?.isLagging ?? false
    namespaces[namespace]?.isLagging = false
    for arrival in held { absorb(arrival, at: now) }
    if laggedAgain { return fallBehind(namespace) }
    let followers = namespaces[namespace]?.followers ?? []
    namespaces[namespace]?.followers = []
    for waiter in followers { release(waiter) }
  }

  /// Ends what was only waiting for events to be taken in.
  mutating func noteAbsorbed(_ namespace: NamespaceID) {
    guard let revision = namespaces[namespace]?.tracker.absorbed.revision else { return }
    let quiet = namespaces[namespace]?.tracker.releaseExpected(through: revision) ?? []
    for waiter in quiet { release(waiter) }
  }
}
