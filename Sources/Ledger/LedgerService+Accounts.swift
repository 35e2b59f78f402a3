package import RewardModel
package import StorageCore
import TreeModel

/// An account of the ledger with one of its balances.
package struct LedgerAccountSummary: Sendable, Hashable {
  package let balance: AccountBalance
  /// How many entries the account has, in all units, counted up to ``LedgerService/entryCountMax``.
  package let entryCount: Int
}

/// A page of accounts.
package struct LedgerAccountPage: Sendable, Hashable {
  /// By the bytes of their names, each unit of an account for itself.
  package fileprivate(set) var accounts: [LedgerAccountSummary] = []
  /// The account to go on behind; nil at the end.
  package fileprivate(set) var next: LedgerAccount?
}

extension LedgerService {
  /// So many entries of an account are counted; more are not told apart.
  package static let entryCountMax = 1000
  /// Accounts that one page looks at, where only one unit is wanted.
  private static let accountScanMax = 1000
  private static let accountChunk = 100

  /// The accounts that have entries, with their balances.
  ///
  /// - `prefix`: what their names begin with: `issuance:`.
  /// - `unit`: only balances in this unit; nil for all.
  /// - `after`: the last account of the page before.
  /// - `limit`: at most so many accounts.
  package func accounts(
    in namespace: NamespaceID, prefix: String = "", unit: String? = nil, after: LedgerAccount? = nil, limit: Int
  ) throws -> LedgerAccountPage {
    try read { snapshot in
      var page = LedgerAccountPage()
      var (last, found, scanned) = (after, 0, 0)
      while true {
        let wanted = min(Self.accountChunk, limit - found)
        let rows = try snapshot.ledgerAccounts(
          in: namespace, prefix: prefix, after: last, limit: wanted, countMax: Self.entryCountMax)
        for row in rows {
          let balances = try balances(of: row, in: namespace, snapshot: snapshot)
            .filter { unit == nil || $0.unit.utf8.elementsEqual((unit ?? "").utf8) }
          page.accounts += balances.map { LedgerAccountSummary(balance: $0, entryCount: row.entryCount) }
          if !balances.isEmpty { found += 1 }
        }
        scanned += rows.count
        last = rows.last?.account ?? last
        guard rows.count == wanted else { return page }
        guard found < limit, scanned < Self.accountScanMax else {
          page.next = last
          return page
        }
      }
    }
  }

  /// Every balance of an account: those that the ledger keeps, and those in the tree. One that has none any more has 0 in the
  /// unit of its last entry.
  private func balances(of row: LedgerAccountRow, in namespace: NamespaceID, snapshot: any Snapshot) throws -> [AccountBalance]
  {
    var found = row.balances
    for currency in currencies.currencies {
      guard let path = currency.path(of: row.account),
        let stored = try snapshot.leaf(in: namespace, at: PathBytes(path))
      else { continue }
      found.append(AccountBalance(account: row.account, unit: currency.unit, balance: stored.leaf.scalar.intValue ?? 0))
    }
    guard found.isEmpty else { return found }
    let last = try snapshot.entries(in: namespace, account: row.account, before: nil, limit: 1).first
    return last.map { [AccountBalance(account: row.account, unit: $0.transfer.unit, balance: 0)] } ?? []
  }
}
