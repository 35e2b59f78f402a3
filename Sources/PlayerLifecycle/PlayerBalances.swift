import RewardModel
import StorageCore
import TreeModel

/// The ledger accounts of a player in a currency: one, or where the pattern of the balances captures more than the player, one
/// for each balance.
struct PlayerBalances {
  /// Children of one node that are looked through.
  private static let childrenMax = 10_000

  let currency: Currency
  /// How the capture is called that is the player; where none is, it is the first.
  let playerName: String?
  let namespace: NamespaceID
  let snapshot: any Snapshot

  /// Which of the captures is the player.
  private var position: Int {
    currency.pattern.captureNames.firstIndex { playerName?.utf8.elementsEqual($0.utf8) == true } ?? 0
  }

  /// - Returns: the accounts; nil if there is too much to look through.
  func accounts(of uid: Key) throws -> [LedgerAccount]? {
    guard currency.pattern.captureNames.count > 1 else { return [account([uid.text])] }
    var owners: [[String]] = []
    guard try find(&owners, of: uid, below: .root, captured: []) else { return nil }
    return owners.map { account($0) }
  }

  /// The account of another player that matches one of this player's.
  func account(like other: LedgerAccount, of uid: Key) -> LedgerAccount {
    var owner = other.ownerParts
    owner[position] = uid.text
    return account(owner)
  }

  private func account(_ owner: [String]) -> LedgerAccount {
    LedgerAccount("\(currency.holder):\(owner.joined(separator: "/"))")
  }

  /// - `path`: a path that the beginning of the pattern matches.
  /// - `captured`: what its captures are there.
  /// - Returns: false if there is too much to look through.
  private func find(
    _ owners: inout [[String]], of uid: Key, below path: Path, captured: [String]
  ) throws -> Bool {
    guard path.depth < currency.pattern.segments.count else {
      if try snapshot.leaf(in: namespace, at: PathBytes(path)) != nil { owners.append(captured) }
      return true
    }
    let children: [Key]
    switch currency.pattern.segments[path.depth] {
    case .literal(let key): return try find(&owners, of: uid, below: path.child(key), captured: captured)
    case .single where captured.count == position: children = [uid]
    case .single:
      children = try snapshot.children(in: namespace, of: PathBytes(path), after: nil, limit: Self.childrenMax + 1)
      guard children.count <= Self.childrenMax else { return false }
    case .multi: children = []
    }
    for child in children {
      guard try find(&owners, of: uid, below: path.child(child), captured: captured + [child.text]) else { return false }
    }
    return true
  }
}
