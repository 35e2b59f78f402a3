import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import PlayerLifecycle
import RewardModel
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
        ).report(beforeEntry: before, limit: limit).json
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

/// The facts, each with its sentence.
extension WhyReport {
  var json: JSON {
    .record([
      ("uid", .string(uid.text)), ("revision", .int(revision.rawValue)), ("functions", .array(stories.map(\.json))),
      ("spread", .array(spread.map { .string($0.name) })),
      ("payments", .array(payments.map(\.json))), ("nextPayment", nextPayment.map(JSON.int)),
      (
        "mentions",
        .array(
          mentions.map {
            [
              "player": .string($0.player.text), "place": .string($0.path.description),
              "functions": .array($0.stories.map(\.json)),
            ]
          })
      ),
      ("sawAllMentions", .bool(sawAllMentions)), ("known", .bool(isKnown)),
      ("deadLetters", .array(deadLetters.map { JSON($0.record) })), ("sawAllDeadLetters", .bool(sawAllDeadLetters)),
      ("lines", .array(WhyExplanation.page(self).map(JSON.string))),
      ("erasure", erasure?.json),
    ])
  }

  static let schema: JSONSchema = {
    let change = JSONSchema.object([
      .always("event", .text), .always("revision", .count), .always("time", .time), .always("actor", .text),
      .always("path", .text), .always("kind", .text), .always("before", .any), .always("after", .any),
      .always("fate", .choice(ChangeStory.Fate.names)), .maybe("reason", .text, "why it was skipped or is paused"),
      .maybe("error", .text), .maybe("attempts", .count), .maybe("nextAttemptAt", .time),
      .maybe("entries", .list(.named("Entry"))), .always("text", .text, "all of that in a sentence"),
      .maybe("repair", .text, "a command that would repair it"),
    ])
    let story = JSONSchema.object([
      .always("function", .text), .always("player", .text), .always("place", .text), .always("runsOn", .text),
      .always("paused", .boolean), .maybe("pauseReason", .text), .always("changes", .list(change), "oldest first"),
      .always("complete", .boolean, "whether that is all that is remembered"), .maybe("prunedThrough", .count),
    ])
    return .object([
      .always("uid", .text), .always("revision", .count), .always("functions", .list(story)),
      .always("spread", .list(.text), "functions whose places for the player are spread over the tree"),
      .always(
        "payments",
        .list(
          .object([
            .always("entry", .named("Entry")), .always("received", .boolean), .maybe("reversedBy", .count),
            .always("text", .text),
          ])), "newest first"), .maybe("nextPayment", .count, "the beforeEntry of the next page"),
      .always(
        "mentions",
        .list(.object([.always("player", .text), .always("place", .text), .always("functions", .list(story))])),
        "other players whose record names this one"), .always("sawAllMentions", .boolean),
      .always("known", .boolean, "whether anything says that there is such a player"),
      .always("deadLetters", .list(.named("Delivery")), "what functions gave up on that is the player's, where no story tells"),
      .always("sawAllDeadLetters", .boolean),
      .always("lines", .list(.text), "the whole answer in words"),
      .maybe("erasure", ErasureRoutes.erasure, "of a player who left"),
    ])
  }()
}

extension WhyReport.Payment {
  fileprivate var json: JSON {
    .record([
      ("entry", JSON(entry)), ("received", .bool(isReceived)), ("reversedBy", reversal.map { .int($0.sequence) }),
      ("text", .string(WhyExplanation.sentence(self))),
    ])
  }
}

extension FunctionStory {
  fileprivate var json: JSON {
    .record([
      ("function", .string(function.name)), ("player", .string(player.text)), ("place", .string(path)),
      ("runsOn", .string(function.runsOn)), ("paused", .bool(pauseReason != nil)),
      ("pauseReason", pauseReason.map(JSON.string)), ("changes", .array(changes.map { json(of: $0) })),
      ("complete", .bool(isComplete)),
      ("prunedThrough", prunedThrough > .zero ? .int(prunedThrough.rawValue) : nil),
    ])
  }

  private func json(of change: ChangeStory) -> JSON {
    let happening = change.happening
    return .record(
      [
        ("event", .string(change.event.description)), ("revision", .int(change.event.revision.rawValue)),
        ("time", .int(change.time)), ("actor", .string(change.actor.description)),
        ("path", .string(happening.path.description)), ("kind", .string(happening.kind.rawValue)),
        ("before", happening.before.jsonValue(.export)), ("after", happening.after.jsonValue(.export)),
        ("fate", .string(change.fate.name)),
      ] + change.fate.details + [
        ("text", .string(WhyExplanation.sentence(change, in: self))),
        ("repair", WhyExplanation.repair(change, in: self).map { .string($0.command) }),
      ])
  }
}

extension ChangeStory.Fate {
  fileprivate var details: [(String, JSON?)] {
    switch self {
    case .paid(let entries, let attempt): [("entries", .array(entries.map(JSON.init))), ("attempts", .int(Int64(attempt)))]
    case .skipped(let reason, _): [("reason", .string(reason))]
    case .waiting(let until, let attempts, let error):
      [("error", .string(error)), ("attempts", .int(Int64(attempts))), ("nextAttemptAt", .int(until))]
    case .paused(let reason): [("reason", .string(reason))]
    case .dead(let attempts, let error): [("error", .string(error)), ("attempts", .int(Int64(attempts)))]
    case .done, .pending, .suppressed, .unwanted, .unheard: []
    }
  }
}
