import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import StorageCore
import TreeModel

/// Why a player was paid, or was not.
enum WhyRoutes {
  static let routes: [Route] = [
    Route.list(
      "/admin/v1/why", "Why a player was paid or not: facts and sentences, with the command that would repair it.", why
    ).described(
      RouteDescription(
        query: [
          .namespace, .uid, .init("reward", .filled, "Only about this function."),
          .init("beforeEntry", .count, "Only payments before this entry: the nextPayment of an earlier answer."),
          .init(
            "limit", .integer(1...200), "At most so many commits of each place; \(WhyQuestion.changesMax) if it is not given."),
        ], answer: WhyReport.schema))
  ]

  private static func why(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let uid = try player(call)
    let functions = call.services.functions?.descriptions ?? []
    let reward = call.query["reward"]
    if let reward, !functions.contains(where: { $0.name == reward }) {
      let names = functions.map(\.name).joined(separator: ", ")
      throw APIError(
        .notFound, "not_found", "No function is called \"\(reward.prefix(80))\"; there is \(names.isEmpty ? "none" : names).")
    }
    let currencies = call.services.ledger?.declaredCurrencies ?? []
    let (namespace, before) = (try call.namespace(), try call.integer("beforeEntry"))
    let limit = try call.limit(default: WhyQuestion.changesMax, max: 200)
    return .json(
      try call.read { (snapshot) throws(StorageError) in
        try WhyQuestion(
          uid: uid, reward: reward, namespace: namespace, functions: functions, currencies: currencies, snapshot: snapshot
        ).report(before: before, limit: limit).json
      })
  }

  /// Who is asked about: by the key in the tree, or by the e-mail address of the account.
  private static func player(_ call: RouteCall) throws(APIError) -> Key {
    let uid = try AccountRoutes.player(call.query["uid"] ?? "", call)
    do throws(PathError) {
      return try Key(uid)
    } catch {
      throw .badRequest(error.description)
    }
  }
}
