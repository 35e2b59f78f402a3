import APISupport
import AdminModel
import HTTPServer
import Ledger
import NIOHTTP1
import PlayerLifecycle
import RewardModel
import StorageCore
import TreeModel

/// Why a player was paid, or was not.
enum WhyRoutes {
  static let routes: [Route] = [.reading(AdminWhy.ask, by: why)]

  private static func why(_ call: RouteCall, query: AdminWhy.Query) throws -> AdminWhy.Report {
    let uid = try player(query.uid, call: call)
    let functions = call.services.functions?.descriptions ?? []
    if let reward = query.reward, !functions.contains(where: { $0.name == reward }) {
      let names = functions.map(\.name).joined(separator: ", ")
      throw APIError(
        .notFound, "not_found", "No function is called \"\(reward.prefix(80))\"; there is \(names.isEmpty ? "none" : names).")
    }
    let currencies = call.services.ledger?.declaredCurrencies ?? []
    let namespace = try call.namespace()
    let limit = query.limit.map { Int($0) } ?? WhyQuestion.changesMax
    return AdminWhy.Report(
      try call.read { snapshot in
        try WhyQuestion(
          uid: uid, reward: query.reward, namespace: namespace, functions: functions, currencies: currencies,
          referralPath: call.services.referrals?.referralPath, snapshot: snapshot
        ).report(beforeEntry: query.beforeEntry, limit: limit)
      })
  }

  /// Who is asked about: by the key in the tree, or by the e-mail address of the account.
  private static func player(_ text: String, call: RouteCall) throws -> Key {
    let uid = try AccountRoutes.player(text, call)
    do {
      return try Key(uid)
    } catch {
      throw APIError.badRequest(error.description)
    }
  }
}

/// The facts, each with its sentence.
extension AdminWhy.Report {
  fileprivate init(_ report: WhyReport) {
    self.init(
      uid: report.uid.text, revision: report.revision.rawValue, functions: report.stories.map { AdminWhy.Story($0) },
      spread: report.spread.map(\.name), payments: report.payments.map { AdminWhy.Payment($0) },
      nextPayment: report.nextPayment,
      mentions: report.mentions.map { mention in
        AdminWhy.Mention(
          player: mention.player.text, path: mention.path.description,
          functions: mention.stories.map { AdminWhy.Story($0) })
      },
      sawAllMentions: report.sawAllMentions, known: report.isKnown,
      deadLetters: report.deadLetters.map { AdminEvents.Delivery($0.record) },
      sawAllDeadLetters: report.sawAllDeadLetters, lines: WhyExplanation.page(report),
      erasure: report.erasure.map { AdminAccounts.Erasure($0) })
  }
}

extension AdminWhy.Payment {
  fileprivate init(_ payment: WhyReport.Payment) {
    self.init(
      entry: AdminLedger.Entry(payment.entry), received: payment.isReceived, reversedBy: payment.reversal?.sequence,
      text: WhyExplanation.sentence(payment))
  }
}

extension AdminWhy.Story {
  fileprivate init(_ story: FunctionStory) {
    self.init(
      function: story.function.name, player: story.player.text, path: story.path, runsOn: story.function.runsOn,
      paused: story.pauseReason != nil, pauseReason: story.pauseReason,
      changes: story.changes.map { AdminWhy.Change($0, in: story) }, complete: story.isComplete,
      prunedThrough: story.prunedThrough > .zero ? story.prunedThrough.rawValue : nil)
  }
}

extension AdminWhy.Change {
  fileprivate init(_ change: ChangeStory, in story: FunctionStory) {
    let happening = change.happening
    self.init(
      event: change.event.description, revision: change.event.revision.rawValue, time: Timestamp(change.time),
      actor: change.actor.description, path: happening.path.description, kind: happening.kind.rawValue,
      before: happening.before.jsonValue(.export), after: happening.after.jsonValue(.export), fate: change.fate.name,
      text: WhyExplanation.sentence(change, in: story), repair: WhyExplanation.repair(change, in: story)?.command)
    switch change.fate {
    case .paid(let entries, let attempt):
      (self.entries, attempts) = (entries.map { AdminLedger.Entry($0) }, Int64(attempt))
    case .skipped(let reason, _): self.reason = reason
    case .waiting(let until, let attempts, let error):
      (self.error, self.attempts, nextAttemptAt) = (error, Int64(attempts), Timestamp(until))
    case .paused(let reason): self.reason = reason
    case .dead(let attempts, let error): (self.error, self.attempts) = (error, Int64(attempts))
    case .done, .pending, .suppressed, .unwanted, .unheard: break
    }
  }
}
