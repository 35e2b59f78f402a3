import Ledger
import RewardModel
package import StorageCore
import TreeModel

/// What is still to be done for a player: an erasure or a merge would take away what it needs.
struct WaitingWork {
  /// Sentences that are listed.
  static let listMax = 20
  /// Rows of one page.
  private static let pageSize = 500

  let uid: String
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// Deliveries of the player's events that wait, are kept, or are dead letters, each in a sentence.
  func deliveries() throws -> [String] {
    var found: [String] = []
    for state in DeliveryRecord.State.allCases {
      var last: DeliveryRecord?
      while true {
        let page = try snapshot.deliveries(in: namespace, state: state, after: last, limit: Self.pageSize)
        for delivery in page where Self.concerns(delivery.event, uid: uid) {
          found.append(
            "\(delivery.function) for \(delivery.event) is \(state.rawValue): "
              + (state == .dead ? "retry or acknowledge it" : delivery.lastError))
          if found.count == Self.listMax { return found }
        }
        last = page.last
        if page.count < Self.pageSize { break }
      }
    }
    return found
  }

  /// Messages to the outside that are not delivered, each in a sentence.
  func messages(_ wanted: PlayerMessages) throws -> [String] {
    try wanted.find(in: .waiting, limit: Self.listMax).map { "The message \($0.key) to \($0.outlet) is not delivered yet" }
  }

  /// Holds that did not end, each in a sentence: what they give back would be at the player's path again.
  func holds() throws -> [String] {
    try OpenHolds(in: namespace, snapshot).of(player: uid).prefix(Self.listMax).map { hold in
      let (sequence, transfer) = (hold.sequence, hold.transfer)
      return "Hold \(sequence) keeps \(transfer.amount) \(transfer.unit) from \(transfer.debit) in \(transfer.credit): void or "
        + "release it (doubloon ledger holds void \(sequence))"
    }
  }

  /// Whether an event is one of the player's: its path has the uid as a key.
  static func concerns(_ event: EventID, uid: String) -> Bool {
    event.path.path?.keys.contains { $0.text.utf8.elementsEqual(uid.utf8) } ?? false
  }

  /// A refusal until the work is done, in words.
  static func message(of uid: String, because work: [String]) -> String {
    let rest = work.count >= listMax ? " and more" : ""
    return "Something still waits for \(uid): \(work.joined(separator: "; "))\(rest). Let it finish, or end it, and ask again; "
      + "\"doubloon triggers list --uid\" shows what functions have to do."
  }
}

/// The messages of the outbox that are a player's: to an address of the player's, of the player's invitations, or asked for
/// by a function for an event at the player's paths.
struct PlayerMessages {
  private static let pageSize = 500
  /// What replaces the words of a message that was erased, as JSON.
  fileprivate static let erased = "\"erased\""

  let paths: [PathBytes]
  let addresses: Set<String>
  let keys: Set<String>
  let namespace: NamespaceID
  let snapshot: any Snapshot

  init(_ record: ErasureRecord, keys: [String], in namespace: NamespaceID, _ snapshot: any Snapshot) {
    paths = record.paths.map { PathBytes($0) }
    addresses = Set(record.addresses.map { $0.lowercased() })
    self.keys = Set(keys)
    self.namespace = namespace
    self.snapshot = snapshot
  }

  /// Those in a state whose words are still there, by key.
  func find(in state: OutboxRecord.State, limit: Int) throws -> [OutboxRecord] {
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
    if let event = record.cause?.event, paths.contains(where: { $0.contains(event.path) }) { return true }
    guard !addresses.isEmpty, let to = (try? JSONParser.parse(record.payload))?["to"]?.string else { return false }
    return addresses.contains(to.lowercased())
  }
}

extension OutboxRecord {
  /// The same without its words.
  package var erased: OutboxRecord {
    OutboxRecord(
      key: key, outlet: outlet, payload: PlayerMessages.erased, cause: cause, state: state, attempts: attempts,
      nextAttemptAt: nextAttemptAt, lastError: lastError.map { _ in "erased" }, createdAt: createdAt)
  }
}

/// The open holds that an erasure gives back: coins that wait for the player, that were taken from the player, and rewards of
/// others that only the player's confirmed address would pay out.
struct PlayerHolds {
  let uid: String
  let namespace: NamespaceID

  /// The entries that made them, oldest first.
  func open(in snapshot: any Snapshot) throws -> [LedgerEntry] {
    var holds = try OpenHolds(in: namespace, snapshot).of(player: uid)
    for key in try RewardErasing.unconfirmed(of: uid, in: namespace, snapshot: snapshot) {
      guard let hold = try snapshot.entry(in: namespace, key: BusinessKey(key)), hold.transfer.credit.isHold,
        try snapshot.entry(in: namespace, key: .holdEnd(of: hold.sequence)) == nil,
        !holds.contains(where: { $0.sequence == hold.sequence })
      else { continue }
      holds.append(hold)
    }
    return holds.sorted { $0.sequence < $1.sequence }
  }

  /// Gives holds back to where they came from.
  ///
  /// - Returns: whether there was one.
  /// - Throws: `unsettled` for one that cannot be given back: the balance that it came from is no integer.
  func void(_ holds: [LedgerEntry], by actor: Actor, in ledger: LedgerService) async throws -> Bool {
    for hold in holds {
      do {
        _ = try await ledger.void(hold.sequence, in: namespace, by: actor, reason: "\(uid) was erased")
      } catch let error as LedgerError {
        // It was ended meanwhile, by an administrator or by its expiry.
        if error.code == .holdEnded { continue }
        throw ErasureError.unsettled(
          uid: uid,
          work: ["Hold \(hold.sequence) cannot be given back: \(error.message) (doubloon ledger holds list --uid \(uid))"])
      }
    }
    return !holds.isEmpty
  }
}
