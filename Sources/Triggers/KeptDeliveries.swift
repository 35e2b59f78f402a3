import StorageCore
import TreeModel

/// Goes through what is stored for a function that is being resumed, in the order of the events, page by page.
///
/// Two states are read as one list: what was kept while it was paused, and what had been put on the shelf before, behind a
/// failing event of its key.
struct KeptDeliveries: Sendable {
  let function: String
  let namespaces: [NamespaceID]
  /// Where the look at each namespace goes on.
  private var lasts: [NamespaceID: ReplayItem] = [:]

  init(of function: String, in namespaces: [NamespaceID]) {
    self.function = function
    self.namespaces = namespaces
  }

  /// Whether no later page finds the event.
  func hasPassed(_ event: EventID, in namespace: NamespaceID) -> Bool {
    lasts[namespace].map { !$0.event.precedes(event) } ?? false
  }

  /// The next records; none at the end, and until something newer was stored.
  mutating func page(_ limit: Int, from snapshot: any Snapshot) throws(StorageError) -> [(NamespaceID, DeliveryRecord)] {
    for namespace in namespaces {
      let last = DeliveryRecord(place: lasts[namespace] ?? ReplayItem(event: .first, function: function))
      var found: [DeliveryRecord] = []
      for state in [DeliveryRecord.State.paused, .waiting] {
        found += try snapshot.deliveries(in: namespace, state: state, after: last, limit: limit)
          .filter { $0.function == function }
      }
      found.sort { $0.event.precedes($1.event) }
      guard let end = found.prefix(limit).last else { continue }
      lasts[namespace] = ReplayItem(event: end.event, function: function)
      return found.prefix(limit).map { (namespace, $0) }
    }
    return []
  }
}

extension EventID {
  /// Before every event.
  static let first = EventID(epoch: 0, revision: .zero, path: .root)

  /// Whether it stands before another in the order of events.
  func precedes(_ other: EventID) -> Bool { (epoch, revision, path) < (other.epoch, other.revision, other.path) }
}

extension DeliveryRecord {
  /// A record that only says where a listing goes on: the one that stood there may have gone.
  init(place: ReplayItem) {
    self.init(
      event: place.event, kind: .updated, hop: 0, function: place.function, state: .dead, attempts: 0, crashes: 0,
      nextAttemptAt: 0, lastError: "", updatedAt: 0)
  }
}
