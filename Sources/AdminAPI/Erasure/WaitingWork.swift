import Ledger
import RewardModel
import StorageCore
import TreeModel

/// What is still to be done for a player, which would need what an erasure takes away.
struct WaitingWork {
  /// Sentences that are listed.
  static let listMax = 20
  /// Rows of one page.
  private static let pageSize = 500

  let uid: String
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// Deliveries of the player's events that wait, are kept, or are dead letters, each in a sentence.
  func deliveries() throws(StorageError) -> [String] {
    var found: [String] = []
    for state in DeliveryRecord.State.allCases {
      var last: DeliveryRecord?
      while true {
        let page = try snapshot.deliveries(in: namespace, state: state, after: last, limit: Self.pageSize)
        for delivery in page where Self.concerns(delivery.event, uid) {
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

  /// Messages that wait to leave the house, each in a sentence.
  func messages(_ wanted: PlayerMessages) throws(StorageError) -> [String] {
    try wanted.find(in: .waiting, limit: Self.listMax).map { "The message \($0.key) to \($0.outlet) is not delivered yet" }
  }

  /// Holds that did not end, each in a sentence: what they give back would stand at the player's place again.
  func holds() throws(StorageError) -> [String] {
    try OpenHolds(in: namespace, snapshot).of(player: uid).prefix(Self.listMax).map { hold in
      let (sequence, transfer) = (hold.sequence, hold.transfer)
      return "Hold \(sequence) keeps \(transfer.amount) \(transfer.unit) from \(transfer.debit) in \(transfer.credit): void or "
        + "release it (doubloon ledger holds void \(sequence))"
    }
  }

  /// Whether an event is one of the player's: its path has the uid as a key.
  static func concerns(_ event: EventID, _ uid: String) -> Bool {
    event.path.path?.keys.contains { $0.text.utf8.elementsEqual(uid.utf8) } ?? false
  }
}
