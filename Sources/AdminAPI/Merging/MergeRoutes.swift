import APISupport
import HTTPServer
import NIOHTTP1
import Ledger
import Links
import PlayerLifecycle
import StorageCore
import TreeModel

/// Two accounts of one player become one.
enum MergeRoutes {
  private static let uid = RouteDescription.Parameter(
    "uid", .filled, required: true, "The account that the player leaves: its uid, or its e-mail address.")
  private static let options: [JSONSchema.Field] = [
    .always("into", .filled, "the account that the player goes on with: its uid, or its e-mail address"),
    .maybe("balances", .boolean, "whether the coins go along"),
    .maybe("record", .boolean, "whether what the other record does not have is copied"),
  ]
  private static let merge: JSONSchema = .object([
    .always("from", .text), .always("into", .text), .maybe("referrer", .text, "who invited the player; moved"),
    .always("balances", .list(.object([.always("unit", .text), .always("amount", .int64)])), "moved"),
    .always("copied", .list(.text), "places of the other record"),
    .maybe("held", .text, "where a reward waits now that waited for the referrer; moved"),
    .always("spent", .list(.text), "business keys of rewards that were paid for the one and are not paid for the other"),
    .always("movesBalances", .boolean), .always("copiesRecord", .boolean), .always("by", .text), .always("reason", .text),
    .maybe("at", .time, "when it was done"),
    .maybe("waiting", .list(.text), "in a preview: what has to be done before"),
  ])

  static let routes: [Route] = [
    Route.mutate(
      .POST, "/admin/v1/accounts/{uid}/merge", audit: "accounts.merge",
      "Moves a player's referral, and if asked for coins and record, to another account of the player's, once.", carryOut
    ).described(
      RouteDescription(
        captures: [uid], body: options + [.always("reason", .filled, "why, for the record")], answer: merge)),
    Route.mutate(
      .POST, "/admin/v1/accounts/{uid}/merge/preview", audit: nil, "What a merge would move, or what it did.", access: .viewer,
      preview
    ).described(RouteDescription(captures: [uid], body: options, answer: merge)),
  ]

  private static func carryOut(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let order = try order(call, because: try call.body().required("reason"))
    let namespace = try call.namespace()
    do throws(MergeError) {
      return .json(.record(try await call.services.merge.carryOut(order, in: namespace).fields))
    } catch {
      throw APIError(error)
    }
  }

  private static func preview(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let order = try order(call, because: "")
    let namespace = try call.namespace()
    do throws(MergeError) {
      let (report, waiting) = try call.services.merge.preview(order, in: namespace)
      return .json(.record(report.fields + [("waiting", waiting.map { .array($0.map(JSON.string)) })]))
    } catch {
      throw APIError(error)
    }
  }

  private static func order(_ call: RouteCall, because reason: String) throws(APIError) -> MergeOrder {
    let body = try call.body()
    return MergeOrder(
      from: try key(call.captures["uid"] ?? "", call: call), into: try key(try body.required("into"), call: call),
      actor: call.caller.actor,
      reason: reason, movesBalances: body["balances"]?.bool ?? false, copiesRecord: body["record"]?.bool ?? false)
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

extension MergeReport {
  fileprivate var fields: [(String, JSON?)] {
    [
      ("from", .string(from)), ("into", .string(into)), ("referrer", referrer.map(JSON.string)),
      ("balances", .array(balances.map { ["unit": .string($0.unit), "amount": .int($0.amount)] })),
      ("copied", .array(copied.map { .string($0.description) })),
      ("held", heldReward.map { JSON.string($0.description) }), ("spent", .array(spentKeys.map(JSON.string))),
      ("movesBalances", .bool(movesBalances)), ("copiesRecord", .bool(copiesRecord)), ("by", .string(actor.description)),
      ("reason", .string(reason)), ("at", time.map(JSON.int)),
    ]
  }
}
