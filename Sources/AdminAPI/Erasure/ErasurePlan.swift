import Accounts
import HTTPServer
import RewardModel
import StorageCore
import TreeDatabase
import TreeModel

/// What the erasure of a player would take, and what it would leave: for looking before it is done.
struct ErasurePlan {
  /// Leaves of one place that are counted.
  private static let leavesMax = 100_000

  let erasure: PlayerErasure
  let record: ErasureRecord
  let currencies: [Currency]
  let namespace: NamespaceID

  func json() throws(StorageError) -> JSON {
    let commits = try erasure.past.touchedCount(record.places.map { PathBytes($0) }, in: namespace)
    let waiting = try erasure.waitingWork(record, in: namespace)
    return try erasure.look { (snapshot) throws(StorageError) in
      var places: [JSON] = []
      for path in record.places {
        let leaves = try snapshot.leaves(in: namespace, under: PathBytes(path), limit: Self.leavesMax)
        places.append(["path": .string(path.description), "leaves": .int(Int64(leaves.count))])
      }
      var rows = 0
      for room in erasure.rooms {
        rows += try room.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot).records.count
      }
      let account = try snapshot.account(in: namespace, uid: record.uid)
      let remembered = try account.flatMap { (account) throws(StorageError) in
        try erasure.accounts?.rememberedIdentities(of: account, in: namespace, snapshot)
      }
      let holds = try PlayerHolds(uid: record.uid, namespace: namespace).open(in: snapshot)
      return .record([
        ("holds", .array(holds.map { JSON($0) })),
        ("rememberedIdentities", .int(Int64(remembered ?? 0))),
        ("uid", .string(record.uid)), ("account", .bool(account != nil)), ("places", .array(places)),
        ("commits", .int(Int64(commits))), ("rows", .int(Int64(rows))), ("balances", .array(try balances(snapshot))),
        ("waiting", .array(waiting.map(JSON.string))),
        ("erasure", try snapshot.erasure(in: namespace, of: record.uid)?.json),
      ])
    }
  }

  /// What the player has: it is posted back when the record goes.
  private func balances(_ snapshot: any Snapshot) throws(StorageError) -> [JSON] {
    var found: [JSON] = []
    for currency in currencies {
      guard let path = currency.path(of: LedgerAccount("\(currency.holder):\(record.uid)")),
        let leaf = try snapshot.leaf(in: namespace, at: PathBytes(path)), case .int(let balance) = leaf.leaf.scalar
      else { continue }
      found.append(["unit": .string(currency.unit), "balance": .int(balance)])
    }
    return found
  }
}
