package import StorageCore
import TreeModel

/// The messages of the outbox that are a player's: to an address of the player's, of the player's invitations, or asked for
/// by a function for an event at the player's places.
struct PlayerMessages {
  private static let pageSize = 500
  /// What stands for the words of a message that was erased.
  private static let erased = "\"erased\""

  let places: [PathBytes]
  let addresses: Set<String>
  let keys: Set<String>
  let namespace: NamespaceID
  let snapshot: any Snapshot

  init(_ record: ErasureRecord, keys: [String], in namespace: NamespaceID, _ snapshot: any Snapshot) {
    places = record.places.map { PathBytes($0) }
    addresses = Set(record.addresses.map { $0.lowercased() })
    self.keys = Set(keys)
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// Those in a state whose words are still there, by key.
  func find(in state: OutboxRecord.State, limit: Int) throws(StorageError) -> [OutboxRecord] {
    var found: [OutboxRecord] = []
    var last: String?
    while true {
      let page = try snapshot.outbox(in: namespace, state: state, after: last, limit: Self.pageSize)
      for record in page where record.payload != Self.erased && isMeant(record) {
        found.append(record)
        if found.count == limit { return found }
      }
      last = page.last?.key
      if page.count < Self.pageSize { return found }
    }
  }

  private func isMeant(_ record: OutboxRecord) -> Bool {
    if keys.contains(record.key) { return true }
    if let event = record.cause?.event, places.contains(where: { $0.contains(event.path) }) { return true }
    guard !addresses.isEmpty, let to = (try? JSONParser.parse(record.payload))?["to"]?.string else { return false }
    return addresses.contains(to.lowercased())
  }
}

extension OutboxRecord {
  /// The same without its words.
  package var erased: OutboxRecord {
    OutboxRecord(
      key: key, outlet: outlet, payload: "\"erased\"", cause: cause, state: state, attempts: attempts,
      nextAttemptAt: nextAttemptAt, lastError: lastError.map { _ in "erased" }, createdAt: createdAt)
  }
}
