import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import Ledger
import Links
import PlayerLifecycle
import StorageCore
import TreeModel

/// Two accounts of one player become one.
enum MergeRoutes {
  static let routes: [Route] = [
    .changing(AdminAccounts.merge, audit: "accounts.merge", answer: carryOut),
    .changing(AdminAccounts.previewMerge, audit: nil, answer: preview),
  ]

  private static func carryOut(_ call: RouteCall, order wanted: AdminAccounts.MergeOrder) async throws(APIError)
    -> AdminAccounts.Merge
  {
    let order = MergeOrder(
      from: try key(call.captures["uid"] ?? "", call: call), into: try key(wanted.into, call: call), actor: call.caller.actor,
      reason: wanted.reason, movesBalances: wanted.balances ?? false, copiesRecord: wanted.record ?? false)
    let namespace = try call.namespace()
    do throws(MergeError) {
      return AdminAccounts.Merge(try await call.services.merge.carryOut(order, in: namespace))
    } catch {
      throw APIError(error)
    }
  }

  private static func preview(_ call: RouteCall, order wanted: AdminAccounts.MergePreviewOrder) async throws(APIError)
    -> AdminAccounts.Merge
  {
    let order = MergeOrder(
      from: try key(call.captures["uid"] ?? "", call: call), into: try key(wanted.into, call: call), actor: call.caller.actor,
      reason: "",
      movesBalances: wanted.balances ?? false, copiesRecord: wanted.record ?? false)
    let namespace = try call.namespace()
    do throws(MergeError) {
      let (report, waiting) = try call.services.merge.preview(order, in: namespace)
      var merge = AdminAccounts.Merge(report)
      merge.waiting = waiting
      return merge
    } catch {
      throw APIError(error)
    }
  }

  private static func key(_ text: String, call: RouteCall) throws(APIError) -> Key {
    let uid = try AccountRoutes.player(text, call)
    do throws(PathError) {
      return try Key(uid)
    } catch {
      throw .badRequest("\"\(uid.prefix(80))\" is no player's id: \(error.description)")
    }
  }
}

extension AdminServices {
  /// Merges accounts.
  var merge: AccountMerge {
    var declarations = AccountMerge.Declarations(
      currencies: ledger?.declaredCurrencies ?? [],
      heldRewards: functions?.descriptions.flatMap(\.heldRewards) ?? [])
    if let links { declarations.referralPattern = links.settings.referral.path }
    return AccountMerge(database: database, accounts: accounts, functions: functions, declarations: declarations)
  }
}

extension APIError {
  /// A refused merge, in the administrators' shape.
  init(_ error: MergeError) {
    switch error {
    case .storage(let error): self.init(error)
    case .commit(let error): self.init(error)
    case .sameAccount, .unreadableReferralPattern, .impersonalReferralPattern, .recordTooLarge:
      self = .badRequest(error.description)
    case .unknownTarget: self.init(.notFound, "not_found", error.description)
    case .disabledTarget: self.init(.conflict, "disabled", error.description)
    case .unsettled: self.init(.conflict, "unsettled", error.description)
    case .mergedBefore: self.init(.conflict, "merged_before", error.description)
    case .invalidReferral: self.init(.conflict, "invalid_referral", error.description)
    case .selfReferral: self.init(.conflict, "self_referral", error.description)
    case .alreadyReferred: self.init(.conflict, "already_referred", error.description)
    case .heldTwice: self.init(.conflict, "held_twice", error.description)
    case .tooManyBalances: self.init(.conflict, "too_many_purses", error.description)
    case .nothingToMove: self.init(.conflict, "nothing_to_move", error.description)
    case .busy: self.init(.conflict, "busy", error.description)
    }
  }
}

extension AdminAccounts.Merge {
  fileprivate init(_ report: MergeReport) {
    self.init(
      from: report.from, into: report.into, referrer: report.referrer,
      balances: report.balances.map { AdminAccounts.Moved(unit: $0.unit, amount: $0.amount) },
      copied: report.copied.map(\.description), held: report.heldReward?.description, spent: report.spentKeys,
      movesBalances: report.movesBalances, copiesRecord: report.copiesRecord, by: report.actor.description,
      reason: report.reason, at: report.time.map { Timestamp($0) })
  }
}
