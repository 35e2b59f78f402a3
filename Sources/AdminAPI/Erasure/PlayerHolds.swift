import HTTPServer
import Ledger
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

/// The open holds that an erasure gives back: coins that wait for the player, that were taken from the player, and rewards of
/// others that only the player's confirmed address would pay out.
struct PlayerHolds {
  let uid: String
  let namespace: NamespaceID

  /// The entries that made them, oldest first.
  func open(in snapshot: any Snapshot) throws(StorageError) -> [LedgerEntry] {
    var holds = try OpenHolds(in: namespace, snapshot).of(player: uid)
    for key in try RewardErasing.unconfirmed(of: uid, in: namespace, snapshot) {
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
      do throws(LedgerError) {
        _ = try await ledger.void(hold.sequence, in: namespace, by: actor, reason: "\(uid) was erased")
      } catch {
        // Somebody ended it meanwhile.
        if error.code == .holdEnded { continue }
        throw APIError.unsettled(
          uid, ["Hold \(hold.sequence) cannot be given back: \(error.message) (doubloon ledger holds list --uid \(uid))"])
      }
    }
    return !holds.isEmpty
  }
}
