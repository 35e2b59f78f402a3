import APISupport
import AdminModel
import Accounts
import Credentials
package import HTTPServer
import Ledger
import NIOHTTP1
package import PlayerLifecycle
import StorageCore
import TreeModel

/// Players who leave: what would go, the erasure itself, and which there were.
enum ErasureRoutes {
  static let routes: [Route] = [
    .changing(AdminAccounts.erase, audit: "accounts.erase", answer: erase),
    .changing(AdminAccounts.previewErasure, audit: nil, answer: preview), .reading(AdminAccounts.erasures, by: list),
  ]

  private static func erase(_ call: RouteCall, order wanted: AdminAccounts.ErasureOrder) async throws -> AdminAccounts.Erasure {
    let uid = try uid(call)
    let order = PlayerErasure.Order(
      uid: uid, paths: try paths(of: uid, and: wanted.paths, call: call), actor: call.caller.actor, reason: wanted.reason,
      runsTriggers: wanted.triggers ?? true)
    let namespace = try call.namespace()
    let record: ErasureRecord?
    do {
      record = try await call.services.erasure.carryOut(order, in: namespace)
    } catch  where !(error is ErasureError || error is CommitError || error is StorageError) {
      // The account, the links or the invitations: whatever was wrong with them, another order goes on where this one ended.
      throw APIError(.serviceUnavailable, "unavailable", "The erasure could not be finished: \(error). Order it again.")
    }
    guard let record else {
      throw APIError(
        .notFound, "not_found",
        "There is nothing of \(order.uid): no account, no record in the tree, and none in its past. See to the spelling.")
    }
    return AdminAccounts.Erasure(record)
  }

  private static func preview(_ call: RouteCall, order wanted: AdminAccounts.ErasurePreviewOrder) async throws
    -> AdminAccounts.ErasurePlan
  {
    let (uid, namespace) = (try uid(call), try call.namespace())
    let order = PlayerErasure.Order(
      uid: uid, paths: try paths(of: uid, and: wanted.paths, call: call), actor: call.caller.actor, reason: "")
    return AdminAccounts.ErasurePlan(
      try call.services.erasure.preview(order, currencies: call.services.ledger?.declaredCurrencies ?? [], in: namespace))
  }

  private static func list(_ call: RouteCall, query: AdminAccounts.ErasureQuery) throws -> AdminAccounts.ErasureList {
    let (namespace, limit) = (try call.namespace(), Int(query.limit ?? 50))
    let page = try call.read { snapshot in
      try snapshot.erasures(in: namespace, after: query.cursor, limit: limit)
    }
    return AdminAccounts.ErasureList(
      erasures: page.map { AdminAccounts.Erasure($0) }, next: page.count == limit ? page.last?.uid : nil)
  }

  /// The player whom the call names. Also by an address that an erasure took which is not done: it is ordered again.
  private static func uid(_ call: RouteCall) throws -> String {
    let (text, namespace) = (call.captures["uid"] ?? "", try call.namespace())
    var unfinished: String?
    if let address = EmailAddress(text)?.text {
      unfinished = try call.services.erasure.unfinishedPlayer(withAddress: address, in: namespace)
    }
    let uid = if let unfinished { unfinished } else { try AccountRoutes.player(text, call) }
    guard (1...128).contains(uid.utf8.count) else { throw APIError.badRequest("A uid has 1 to 128 bytes.") }
    return uid
  }

  private static func paths(of uid: String, and patterns: [String]?, call: RouteCall) throws -> [Path] {
    let patterns = patterns ?? []
    guard patterns.count <= 50 else { throw APIError.badRequest("At most 50 paths can be named at once.") }
    do {
      return try PersonalPaths(
        of: uid, currencies: call.services.ledger?.declaredCurrencies ?? [],
        patterns: (call.services.accounts?.options.personalPaths ?? []) + patterns
      ).paths
    } catch {
      throw APIError.badRequest("\(error)")
    }
  }
}

extension AdminServices {
  /// Erases players.
  var erasure: PlayerErasure {
    PlayerErasure(
      database: database, accounts: accounts,
      recordStores: ([links, invites, messages, RewardErasing(), SessionEndErasing()] as [(any PlayerRecordsErasing)?])
        .compactMap(\.self),
      functions: functions, ledger: ledger, replacementAnswer: WriteAnswer.erased.stored)
  }
}

/// A refused erasure, in the administrators' shape.
extension ErasureError: APIErrorConvertible {
  package var apiError: APIError {
    let code =
      switch self {
      case .busy: "busy"
      case .unsettled: "unsettled"
      case .writtenAgain: "written_again"
      }
    return APIError(.conflict, code, description)
  }
}

extension AdminAccounts.ErasurePlan {
  fileprivate init(_ preview: ErasurePreview) {
    self.init(
      holds: preview.holds.map { AdminLedger.Entry($0) }, rememberedIdentities: Int64(preview.rememberedIdentityCount),
      uid: preview.uid, account: preview.hasAccount,
      paths: preview.paths.map { AdminAccounts.PathSize(path: $0.path.description, leaves: Int64($0.leafCount)) },
      commits: Int64(preview.commitCount), rows: Int64(preview.recordCount),
      balances: preview.balances.map { AdminAccounts.Held(unit: $0.unit, balance: $0.balance) },
      waiting: preview.waitingWork, erasure: preview.lastErasure.map { AdminAccounts.Erasure($0) })
  }
}
