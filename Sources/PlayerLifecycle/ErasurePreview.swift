import Accounts
package import RewardModel
package import StorageCore
import TreeDatabase
package import TreeModel

/// What the erasure of a player would take, and what it would leave.
package struct ErasurePreview: Sendable {
  /// The player.
  package let uid: String
  package let hasAccount: Bool
  /// What would be removed from the tree, with the number of leaves below each path; they are counted up to 100,000.
  package let paths: [(path: Path, leafCount: Int)]
  /// Commits whose changes would be erased, as far as they are the player's.
  package let commitCount: Int
  /// Records of links, invitations and rewards.
  package let recordCount: Int
  /// What the ledger takes back when the balances are removed.
  package let balances: [(unit: String, balance: Int64)]
  /// Entries of coins that wait, and go back to where they came from.
  package let holds: [LedgerEntry]
  /// What has to be done before, a sentence each.
  package let waitingWork: [String]
  /// Keyed hashes of identities that stay, so that who was paid is not paid again.
  package let rememberedIdentityCount: Int
  /// The last erasure of this player.
  package let lastErasure: ErasureRecord?
}

extension PlayerErasure {
  /// Leaves below one path that a preview counts.
  private static let leavesMax = 100_000

  /// Looks at what an erasure would do; changes nothing.
  ///
  /// - `currencies`: those whose balances are told.
  package func preview(_ order: Order, currencies: [Currency], in namespace: NamespaceID) throws -> ErasurePreview {
    let addresses = try read { snapshot in
      try snapshot.account(in: namespace, uid: order.uid)?.addresses ?? []
    }
    let record = ErasureRecord(
      uid: order.uid, paths: order.paths, actor: order.actor, reason: order.reason, orderedAt: 0, addresses: addresses)
    let commitCount = try past.touchedCount(record.paths.map { PathBytes($0) }, in: namespace)
    let waitingWork = try waitingWork(record, in: namespace)
    return try read { snapshot in
      var paths: [(path: Path, leafCount: Int)] = []
      for path in record.paths {
        let leaves = try snapshot.leaves(in: namespace, under: PathBytes(path), limit: Self.leavesMax)
        paths.append((path, leaves.count))
      }
      var recordCount = 0
      for store in recordStores {
        recordCount +=
          try store.erasure(of: record.uid, addresses: record.addresses, in: namespace, snapshot: snapshot).records.count
      }
      let account = try snapshot.account(in: namespace, uid: record.uid)
      let remembered = try account.flatMap { account in
        try accounts?.rememberedIdentities(of: account, in: namespace, snapshot: snapshot)
      }
      return ErasurePreview(
        uid: record.uid, hasAccount: account != nil, paths: paths, commitCount: commitCount, recordCount: recordCount,
        balances: try balances(of: record.uid, currencies: currencies, in: namespace, snapshot: snapshot),
        holds: try PlayerHolds(uid: record.uid, namespace: namespace).open(in: snapshot), waitingWork: waitingWork,
        rememberedIdentityCount: remembered ?? 0, lastErasure: try snapshot.erasure(in: namespace, of: record.uid))
    }
  }

  private func balances(
    of uid: String, currencies: [Currency], in namespace: NamespaceID, snapshot: any Snapshot
  ) throws -> [(unit: String, balance: Int64)] {
    var found: [(unit: String, balance: Int64)] = []
    for currency in currencies {
      guard let path = currency.path(of: LedgerAccount("\(currency.holder):\(uid)")),
        let leaf = try snapshot.leaf(in: namespace, at: PathBytes(path)), case .int(let balance) = leaf.leaf.scalar
      else { continue }
      found.append((currency.unit, balance))
    }
    return found
  }
}
