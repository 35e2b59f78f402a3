import APISupport
import Accounts
import Credentials
import HTTPServer
import Ledger
import NIOHTTP1
import PlayerLifecycle
import StorageCore
import TreeModel

/// Players who leave: what would go, the erasure itself, and which there were.
enum ErasureRoutes {
  private static let uid = RouteDescription.Parameter(
    "uid", .filled, required: true, "The player: the uid, or the account's e-mail address.")
  private static let patterns = JSONSchema.Field.maybe(
    "paths", .list(.filled), "more places of the player's, as patterns with one capture: /leaderboard/{uid}")

  static let erasure: JSONSchema = .object([
    .always("uid", .text), .always("state", .choice(ErasureRecord.State.allCases.map(\.rawValue))),
    .always("places", .list(.text), "what was the player's, and everything below"), .always("by", .text),
    .always("reason", .text), .always("orderedAt", .time),
    .maybe("order", .count, "the commit up to which the past of the places is forgotten"), .maybe("finishedAt", .time),
    .always("commits", .count, "whose changes were erased, as far as they were the player's"),
  ])

  /// What readers of the history are told of erased paths.
  static let place: JSONSchema = .object([
    .always("path", .text), .always("uid", .text), .always("through", .count, "up to here nothing is known of it"),
    .always("at", .time), .always("by", .text), .always("reason", .text),
  ])

  static let routes: [Route] = [
    Route.mutate(
      .POST, "/admin/v1/accounts/{uid}/erase", audit: "accounts.erase",
      "Erases a player who leaves: record, account and their past; the ledger and the chains of hashes stay.", erase
    ).described(
      RouteDescription(
        captures: [uid],
        body: [
          .always("reason", .filled, "why, for the record"), patterns,
          .maybe("triggers", .boolean, "false: functions do not hear of the removal"),
        ], answer: erasure)),
    Route.mutate(
      .POST, "/admin/v1/accounts/{uid}/erase/preview", audit: nil,
      "What an erasure would take, and what still waits for the player.", access: .viewer, preview
    ).described(
      RouteDescription(
        captures: [uid], body: [patterns],
        answer: .object([
          .always("uid", .text), .always("account", .boolean, "whether there is one"),
          .always("places", .list(.object([.always("path", .text), .always("leaves", .count)]))),
          .always("commits", .count, "whose changes would be erased, as far as they are the player's"),
          .always("rows", .count, "of links and invitations"),
          .always(
            "balances", .list(.object([.always("unit", .text), .always("balance", .int64)])),
            "what the ledger takes back when the record goes"),
          .always("holds", .list(.named("Entry")), "coins that wait, and go back to where they came from"),
          .always("waiting", .list(.text), "what has to be done before"),
          .always(
            "rememberedIdentities", .count, "keyed hashes of identities that stay, so that who was paid is not paid again"),
          .maybe("erasure", erasure, "the last one of this player"),
        ]))),
    Route.list("/admin/v1/erasures", "The players who were erased, by uid.", list).described(
      RouteDescription(
        query: [.namespace, .limit(50), .cursor],
        answer: .object([.always("erasures", .list(erasure)), .maybe("next", .text, "the next page's cursor")]))),
  ]

  private static func erase(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let reason = try body.required("reason")
    let uid = try uid(call)
    let order = PlayerErasure.Order(
      uid: uid, paths: try paths(of: uid, call: call, body: body), actor: call.caller.actor, reason: reason,
      runsTriggers: body["triggers"]?.bool ?? true)
    let namespace = try call.namespace()
    do {
      guard let record = try await call.services.erasure.carryOut(order, in: namespace) else {
        throw APIError(
          .notFound, "not_found",
          "There is nothing of \(order.uid): no account, no record in the tree, and none in its past. See to the spelling.")
      }
      return .json(record.json)
    } catch let error as APIError {
      throw error
    } catch let error as ErasureError {
      throw APIError(error)
    } catch let error as CommitError {
      throw APIError(error)
    } catch let error as StorageError {
      throw APIError(error)
    } catch {
      throw APIError(.serviceUnavailable, "unavailable", "The erasure could not be finished: \(error). Order it again.")
    }
  }

  private static func preview(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let (uid, namespace) = (try uid(call), try call.namespace())
    let order = PlayerErasure.Order(
      uid: uid, paths: try paths(of: uid, call: call, body: try call.body()), actor: call.caller.actor, reason: "")
    do throws(StorageError) {
      return .json(
        try call.services.erasure.preview(order, currencies: call.services.ledger?.declaredCurrencies ?? [], in: namespace)
          .json)
    } catch {
      throw APIError(error)
    }
  }

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (namespace, limit, cursor) = (try call.namespace(), try call.limit(), call.query["cursor"])
    let page = try call.read { (snapshot) throws(StorageError) in
      try snapshot.erasures(in: namespace, after: cursor, limit: limit)
    }
    return .json(
      .record([
        ("erasures", .array(page.map(\.json))), ("next", page.count == limit ? page.last.map { .string($0.uid) } : nil),
      ]))
  }

  /// The player whom the call names. Also by an address that an erasure took which is not done: it is ordered again.
  private static func uid(_ call: RouteCall) throws(APIError) -> String {
    let (text, namespace) = (call.captures["uid"] ?? "", try call.namespace())
    var unfinished: String?
    if let address = EmailAddress(text)?.text {
      do throws(StorageError) {
        unfinished = try call.services.erasure.unfinishedPlayer(withAddress: address, in: namespace)
      } catch {
        throw APIError(error)
      }
    }
    let uid = if let unfinished { unfinished } else { try AccountRoutes.player(text, call) }
    guard (1...128).contains(uid.utf8.count) else { throw .badRequest("A uid has 1 to 128 bytes.") }
    return uid
  }

  private static func paths(of uid: String, call: RouteCall, body: JSON) throws(APIError) -> [Path] {
    let patterns = body["paths"]?.array?.compactMap(\.string) ?? []
    guard patterns.count <= 50 else { throw .badRequest("At most 50 paths can be named at once.") }
    do throws(PersonalPaths.PathsError) {
      return try PersonalPaths(
        of: uid, currencies: call.services.ledger?.declaredCurrencies ?? [],
        patterns: (call.services.accounts?.options.personalPlaces ?? []) + patterns
      ).paths
    } catch {
      throw .badRequest(error.description)
    }
  }
}

extension AdminServices {
  /// Erases players.
  var erasure: PlayerErasure {
    PlayerErasure(
      database: database, accounts: accounts,
      recordStores: ([links, invites, RewardErasing()] as [(any PlayerRecordsErasing)?]).compactMap(\.self),
      functions: functions, ledger: ledger, replacementAnswer: WriteAnswer.erased.stored)
  }
}

extension APIError {
  /// A refused erasure, in the administrators' shape.
  init(_ error: ErasureError) {
    let code =
      switch error {
      case .busy: "busy"
      case .unsettled: "unsettled"
      case .writtenAgain: "written_again"
      }
    self.init(.conflict, code, error.description)
  }
}

extension ErasurePreview {
  fileprivate var json: JSON {
    .record([
      ("holds", .array(holds.map { JSON($0) })), ("rememberedIdentities", .int(Int64(rememberedIdentityCount))),
      ("uid", .string(uid)), ("account", .bool(hasAccount)),
      ("places", .array(paths.map { ["path": .string($0.path.description), "leaves": .int(Int64($0.leafCount))] })),
      ("commits", .int(Int64(commitCount))), ("rows", .int(Int64(recordCount))),
      ("balances", .array(balances.map { ["unit": .string($0.unit), "balance": .int($0.balance)] })),
      ("waiting", .array(waitingWork.map(JSON.string))), ("erasure", lastErasure?.json),
    ])
  }
}
