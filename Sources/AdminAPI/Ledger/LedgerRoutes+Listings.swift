import APISupport
import AdminModel
import HTTPServer
import Ledger
import RewardModel
import StorageCore

/// Entries and accounts, page by page.
extension LedgerRoutes {
  static func statement(_ call: RouteCall, query: AdminLedger.StatementQuery) throws -> AdminLedger.Statement {
    let account = LedgerAccount(query.account)
    let walk = EntryWalk(
      in: try call.namespace(), account: account, code: query.code, times: try times(since: query.since, until: query.until))
    let start = try position(before: query.before, after: query.after) ?? .before(nil)
    let page = try call.read { snapshot in
      try walk.page(from: start, limit: Int(query.limit ?? 50), snapshot: snapshot)
    }
    let rows = page.rows.map { row in
      AdminLedger.Entry(
        row.entry, referral: ReferralEvidence.of(row.entry, links: call.services.links), reversedBy: row.reversedBy)
    }
    return AdminLedger.Statement(
      account: account.name, entries: rows, next: page.next, scanned: query.code == nil ? nil : Int64(page.scanned))
  }

  static func entries(_ call: RouteCall, query: AdminLedger.EntryQuery) throws -> AdminLedger.EntryList {
    let namespace = try call.namespace()
    if let key = query.key {
      return try call.read { snapshot in
        guard let entry = try snapshot.entry(in: namespace, key: BusinessKey(key)) else {
          return AdminLedger.EntryList(entries: [])
        }
        let reversal = try snapshot.reversal(in: namespace, of: entry.sequence)
        return AdminLedger.EntryList(entries: [AdminLedger.Entry(entry, reversedBy: reversal?.sequence)])
      }
    }
    let start = try position(before: query.before, after: query.after) ?? .after(0)
    let walk = EntryWalk(in: namespace, code: query.code, times: try times(since: query.since, until: query.until))
    let page = try call.read { snapshot in
      try walk.page(from: start, limit: Int(query.limit ?? 50), snapshot: snapshot)
    }
    return AdminLedger.EntryList(
      entries: page.rows.map { AdminLedger.Entry($0.entry, reversedBy: $0.reversedBy) }, next: page.next,
      scanned: query.code == nil ? nil : Int64(page.scanned))
  }

  /// Nil where neither is named.
  private static func position(before: Int64?, after: Int64?) throws -> EntryPosition? {
    switch (before, after) {
    case (_?, _?): throw APIError.badRequest("Name before, for the newest first, or after, for the oldest first; not both.")
    case (let before?, nil): .before(before)
    case (nil, let after?): .after(after)
    case (nil, nil): nil
    }
  }

  /// Nil where neither is named.
  private static func times(since: Timestamp?, until: Timestamp?) throws -> ClosedRange<Int64>? {
    guard since != nil || until != nil else { return nil }
    let (first, last) = (since?.milliseconds ?? .min, until?.milliseconds ?? .max)
    guard first <= last else { throw APIError.badRequest("since must not be later than until.") }
    return first...last
  }

  static func accounts(_ call: RouteCall, query: AdminLedger.AccountQuery) throws -> AdminLedger.AccountList {
    let ledger = try ledger(call)
    let page = try ledger.accounts(
      in: try call.namespace(), prefix: query.prefix ?? "", unit: query.unit, after: query.after.map { LedgerAccount($0) },
      limit: Int(query.limit ?? 50))
    return AdminLedger.AccountList(
      accounts: page.accounts.map { row in
        AdminLedger.Account(
          account: row.balance.account.name, unit: row.balance.unit, balance: row.balance.balance,
          entries: Int64(row.entryCount))
      }, next: page.next?.name)
  }
}
