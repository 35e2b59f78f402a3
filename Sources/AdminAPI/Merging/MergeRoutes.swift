import APISupport
import AdminModel
package import HTTPServer
import NIOHTTP1
import Ledger
import Links
import Messages
package import PlayerLifecycle
import StorageCore
import TreeModel

/// Two accounts of one player become one.
enum MergeRoutes {
  static let routes: [Route] = [
    .changing(AdminAccounts.merge, audit: "accounts.merge", answer: carryOut),
    .changing(AdminAccounts.previewMerge, audit: nil, answer: preview),
  ]

  private static func carryOut(_ call: RouteCall, order wanted: AdminAccounts.MergeOrder) async throws -> AdminAccounts.Merge {
    let order = MergeOrder(
      from: try key(call.captures["uid"] ?? "", call: call), into: try key(wanted.into, call: call), actor: call.caller.actor,
      reason: wanted.reason, movesBalances: wanted.balances ?? false, copiesRecord: wanted.record ?? false)
    let namespace = try call.namespace()
    return AdminAccounts.Merge(try await call.services.merge.carryOut(order, in: namespace))
  }

  private static func preview(_ call: RouteCall, order wanted: AdminAccounts.MergePreviewOrder) async throws
    -> AdminAccounts.Merge
  {
    let order = MergeOrder(
      from: try key(call.captures["uid"] ?? "", call: call), into: try key(wanted.into, call: call), actor: call.caller.actor,
      reason: "",
      movesBalances: wanted.balances ?? false, copiesRecord: wanted.record ?? false)
    let namespace = try call.namespace()
    let (report, waiting) = try call.services.merge.preview(order, in: namespace)
    var merge = AdminAccounts.Merge(report)
    merge.waiting = waiting
    return merge
  }

  private static func key(_ text: String, call: RouteCall) throws -> Key {
    let uid = try AccountRoutes.player(text, call)
    do {
      return try Key(uid)
    } catch {
      throw APIError.badRequest("\"\(uid.prefix(80))\" is no player's id: \(error.description)")
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
    var moves: AccountMerge.RecordMoves?
    if let messages {
      moves = { (from: String, into: String, namespace: NamespaceID, snapshot: any Snapshot) throws(StorageError) in
        try messages.moves(of: from, to: into, in: namespace, snapshot: snapshot)
      }
    }
    return AccountMerge(
      database: database, accounts: accounts, functions: functions, declarations: declarations, recordMoves: moves)
  }
}

/// A refused merge, in the administrators' shape.
extension MergeError: APIErrorConvertible {
  package var apiError: APIError {
    switch self {
    case .sameAccount, .unreadableReferralPattern, .impersonalReferralPattern, .recordTooLarge: .badRequest(description)
    case .unknownTarget: APIError(.notFound, "not_found", description)
    case .disabledTarget: APIError(.conflict, "disabled", description)
    case .otherTenant: APIError(.conflict, "other_tenant", description)
    case .unsettled: APIError(.conflict, "unsettled", description)
    case .mergedBefore: APIError(.conflict, "merged_before", description)
    case .invalidReferral: APIError(.conflict, "invalid_referral", description)
    case .selfReferral: APIError(.conflict, "self_referral", description)
    case .alreadyReferred: APIError(.conflict, "already_referred", description)
    case .heldTwice: APIError(.conflict, "held_twice", description)
    case .tooManyBalances: APIError(.conflict, "too_many_purses", description)
    case .nothingToMove: APIError(.conflict, "nothing_to_move", description)
    case .busy: APIError(.conflict, "busy", description)
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
