import APISupport
import AdminModel
import HTTPServer
import Ledger
import Links
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

/// The ledger: looking, what administrators may do with it, and what that would do.
enum LedgerRoutes {
  static let routes: [Route] = looks + transfers + changes + many

  private static let looks: [Route] = [
    .reading(AdminLedger.balance, by: balance), .reading(AdminLedger.statement, by: statement),
    .reading(AdminLedger.entries, by: entries), .reading(AdminLedger.accounts, by: accounts),
    .reading(AdminLedger.verify, by: verify),
  ]

  private static let changes: [Route] = [
    .changing(AdminLedger.previewTransfer, audit: nil, answer: previewTransfer),
    .changing(AdminLedger.previewReversal, audit: nil, answer: previewReversal),
    .changing(AdminLedger.reverse, audit: "ledger.reverse", answer: reverse), .reading(AdminLedger.holds, by: holds),
    .changing(AdminLedger.hold, audit: "ledger.hold", answer: hold),
    .changing(AdminLedger.release, audit: "ledger.release", answer: release),
    .changing(AdminLedger.void, audit: "ledger.void", answer: voidHold),
  ]

  private static let many: [Route] = [
    .changing(AdminHolds.previewHolds, audit: nil, answer: previewHolds),
    .changing(AdminHolds.endHolds, audit: "ledger.holds.end", answer: endHolds),
  ]

  private static let transfers: [Route] = ["/admin/v1/ledger/transfer", "/admin/v1/ledger/transfers"].map { path in
    .changing(AdminLedger.transfer.at(path), audit: "ledger.transfer", answer: transfer)
  }

  // MARK: Looking

  private static func balance(_ call: RouteCall, query: AdminLedger.BalanceQuery) throws -> AdminLedger.Balance {
    let account = LedgerAccount(query.account)
    let ledger = try ledger(call)
    let unit = try unit(query.unit, of: ledger)
    let namespace = try call.namespace()
    let balance = try ledger.balance(in: namespace, of: account, unit: unit)
    return AdminLedger.Balance(account: account.name, unit: unit, balance: balance)
  }

  private static func verify(_ call: RouteCall, query _: NoQuery) throws -> AdminLedger.Verification {
    let ledger = try ledger(call)
    let namespace = try call.namespace()
    return AdminLedger.Verification(try ledger.verify(namespace))
  }

  // MARK: Arguments

  /// The currency that is meant: the one that is named, else the game's only one.
  static func unit(_ named: String?, of ledger: LedgerService) throws -> String {
    if let named { return named }
    guard let unit = Currency.onlyUnit(of: ledger.declaredCurrencies) else {
      let units = Set(ledger.declaredCurrencies.map(\.unit)).sorted().joined(separator: ", ")
      throw APIError.badRequest(
        units.isEmpty
          ? Currency.advice(beside: []) : "Name the currency, in commands by --unit: this game has \(units).")
    }
    return unit
  }

  static func ledger(_ call: RouteCall) throws -> LedgerService {
    guard let ledger = call.services.ledger else {
      throw APIError(.notImplemented, "not_available", "This server keeps no ledger.")
    }
    return ledger
  }
}

/// What a reward for an invitation rests on, beside the entry that paid it.
enum ReferralEvidence {
  /// The claim behind an entry that a function made for a player whom somebody invited: the link, the click or the code, and
  /// when; nil for other entries.
  static func of(_ entry: LedgerEntry, links: LinkService?) -> AdminLedger.ReferralEvidence? {
    guard let links, let player = player(entry), let claim = try? links.claims.claim(of: player) else { return nil }
    var evidence = AdminLedger.ReferralEvidence(
      player: claim.player, inviter: claim.inviter, link: claim.link, at: Timestamp(claim.at), how: "code")
    switch claim.evidence {
    case .click(let id, let time, let platform):
      evidence.how = "click"
      (evidence.click, evidence.clickedAt, evidence.platform) = (id, Timestamp(time), platform.rawValue)
    case .code(let code): evidence.code = code
    }
    return evidence
  }

  /// The player who was invited: whom the entry is about, else who got the coins.
  private static func player(_ entry: LedgerEntry) -> String? {
    guard entry.transfer.function != nil else { return nil }
    if let subject = entry.transfer.subject { return subject }
    let name = entry.transfer.credit.name
    return name.hasPrefix("user:") ? String(name.dropFirst(5)) : name
  }
}
