import RewardModel
import StorageCore
import TreeModel

/// What a commit does to the balances in the tree, and how much of it the commit's transfers explain.
///
/// A value that is no Int64, or none, counts as 0. Sums are 128 bits wide: the way from Int64.min to Int64.max does not fit
/// 64.
struct BalanceChanges {
  /// One balance.
  private struct Change {
    let purse: Purse
    let before: Int64
    let after: Int64
    var explained: Int128 = 0
  }

  /// In the order of the tree, then of the transfers.
  private var changes: [Change] = []
  private var positions: [Purse: Int] = [:]

  /// The balances among the changed leaves.
  init(_ leaves: [LeafChange], currencies: CurrencyTable) {
    for leaf in leaves {
      guard let purse = currencies.purse(at: leaf.path) else { continue }
      append(purse, before: leaf.before?.intValue ?? 0, after: leaf.after?.intValue ?? 0)
    }
  }

  var isEmpty: Bool { changes.isEmpty }

  /// The balance before the commit; nil for a purse that the ledger alone keeps.
  func before(_ purse: Purse) -> Int64? {
    positions[purse].map { changes[$0].before }
  }

  /// What the transfers leave unexplained, in order; never 0.
  var residuals: [(purse: Purse, amount: Int128)] {
    changes.compactMap { change in
      let residual = Int128(change.after) - Int128(change.before) - change.explained
      return residual == 0 ? nil : (change.purse, residual)
    }
  }

  /// Takes note of the transfers.
  ///
  /// - Parameter current: reads a leaf as it is after the commit. A write and a transfer may cancel out; such a balance is
  ///   not among the changed leaves, but its write needs an adjustment all the same.
  mutating func explain(
    _ transfers: [LedgerTransfer], currencies: CurrencyTable, current: (Path) throws(CommitRefusal) -> Scalar?
  ) throws(CommitRefusal) {
    for transfer in transfers {
      for (account, amount) in [(transfer.debit, -Int128(transfer.amount)), (transfer.credit, Int128(transfer.amount))] {
        let purse = Purse(account: account, unit: transfer.unit)
        if let position = positions[purse] {
          changes[position].explained += amount
        } else if let path = try currencies.path(of: purse) {
          let balance = try current(path)?.intValue ?? 0
          append(purse, before: balance, after: balance)
          changes[changes.count - 1].explained += amount
        }
      }
    }
  }

  private mutating func append(_ purse: Purse, before: Int64, after: Int64) {
    positions[purse] = changes.count
    changes.append(Change(purse: purse, before: before, after: after))
  }
}
