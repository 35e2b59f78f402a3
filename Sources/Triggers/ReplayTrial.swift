import FunctionsKit
import RewardModel
public import StorageCore
public import TreeModel

extension Replayer {
  /// What an order would come to: counts by function and outcome, and coins. Nothing is written.
  ///
  /// The functions are run without effect for the outcomes and the coins, at most ``ReplayOptions/trialsMax`` times; what
  /// the answer covers is in it.
  public func preview(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> JSON {
    let (scan, progress) = try beginning(of: order, in: namespace)
    let survey = try await ReplaySurvey.make(of: scan, from: progress.cursor, by: self)
    let trial = await ReplayTrial.make(of: survey.toTry, by: self)
    return report(order, progress, survey, trial.summary)
  }

  /// Runs functions on the state that their events pinned, and takes everything back: what would change in the tree and in
  /// the ledger, and how each run would end compared with what is recorded. Nothing is written.
  ///
  /// Pairs that were handled before are run too, where the order covers them, and compared with their records.
  public func dryRun(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> JSON {
    let (scan, progress) = try beginning(of: order, in: namespace)
    let survey = try await ReplaySurvey.make(of: scan, from: progress.cursor, by: self)
    let trial = await ReplayTrial.make(of: survey.toTry, by: self)
    let divergences = try await Divergence.find(in: survey.finished, by: self)
    let members = try (trial.summary + trial.particulars(reading: engine, in: namespace))
    return report(
      order, progress, survey,
      members + [
        ("compared", .int(Int64(survey.finished.count))), ("divergences", .array(divergences.map(\.json))),
      ])
  }

  private func report(
    _ order: ReplayOrder, _ progress: ReplayProgress, _ survey: ReplaySurvey, _ trial: [(String, JSON?)]
  ) -> JSON {
    JSON(
      present: [
        ("order", order.json), ("through", .int(progress.through.rawValue)),
        ("pruned", progress.pruned > .zero ? .int(progress.pruned.rawValue) : JSON?.none), ("survey", survey.json),
      ] + trial)
  }
}

/// Runs of functions, and what the writer would have made of what they asked for: each judged on what the ones before it
/// left, then all of it taken back.
struct ReplayTrial: Sendable {
  /// One pair's run.
  struct Run: Sendable {
    let pair: ReplayPair
    /// `done`, `skipped`, `failed`, or `again`: it depends on an earlier one of the trial and would be run once more.
    let outcome: String
    let reason: String?
    let committed: CommittedRequest?
  }

  private(set) var runs: [Run] = []

  static func make(of pairs: [ReplayPair], by replayer: Replayer) async -> ReplayTrial {
    let endings = await TrialBench(dispatcher: replayer.dispatcher).run(pairs)
    let requests = endings.compactMap { ending -> CommitRequest? in
      if case .effect(let request, _, _) = ending { request } else { nil }
    }
    var results = await replayer.rehearse(requests)[...]
    var trial = ReplayTrial()
    for (pair, ending) in zip(pairs, endings) {
      switch ending {
      case .skipped(let reason): trial.add(pair, "skipped", reason)
      case .failed(let error, _): trial.add(pair, "failed", error)
      case .effect(_, let execution, _):
        guard let result = results.popFirst() else { continue }
        switch result {
        case .success(let committed): trial.add(pair, "done", execution.reason, committed)
        case .failure(let refusal): trial.add(pair, refused: refusal)
        }
      }
    }
    return trial
  }

  private mutating func add(_ pair: ReplayPair, _ outcome: String, _ reason: String?, _ committed: CommittedRequest? = nil) {
    runs.append(Run(pair: pair, outcome: outcome, reason: reason, committed: committed))
  }

  /// As the dispatcher takes a refusal.
  private mutating func add(_ pair: ReplayPair, refused refusal: CommitRefusal) {
    switch refusal.code {
    case .keyTaken(let entry): add(pair, "skipped", "already_paid: entry \(entry.sequence)")
    case .insufficientFunds: add(pair, "skipped", "insufficient_funds")
    case .stale, .recordChanged: add(pair, "again", refusal.message)
    default: add(pair, "failed", refusal.message)
    }
  }

  // MARK: The report

  var summary: [(String, JSON?)] {
    var outcomes: [String: Int64] = [:]
    var coins: [String: Int64] = [:]
    for run in runs {
      let word = run.outcome == "skipped" ? "skipped: \(ReplayTally.firstWord(run.reason ?? ""))" : run.outcome
      outcomes[word, default: 0] += 1
      for entry in run.committed?.receipt.entries ?? [] where entry.transfer.function == run.pair.name {
        coins[entry.transfer.unit] = (coins[entry.transfer.unit] ?? 0).addingUpTo(entry.transfer.signedAmount)
      }
    }
    return [
      ("tried", .int(Int64(runs.count))), ("outcomes", JSON(counts: outcomes)), ("coins", JSON(counts: coins)),
    ]
  }

  /// Each run, each place of the tree that would change, each entry that would be made.
  func particulars(reading engine: any StorageEngine, in namespace: NamespaceID) throws -> [(String, JSON?)] {
    var places: [PathBytes: (before: Scalar?, after: Scalar?)] = [:]
    var entries: [JSON] = []
    for committed in runs.compactMap(\.committed) {
      for change in committed.changes {
        places[change.path] = (places[change.path].map { $0.before } ?? change.before, change.after)
      }
      entries += committed.receipt.entries.map { entry in
        JSON(present: [
          ("debit", .string(entry.transfer.debit.name)), ("credit", .string(entry.transfer.credit.name)),
          ("amount", .int(entry.transfer.amount)), ("unit", .string(entry.transfer.unit)),
          ("code", .string(entry.transfer.code)), ("key", .string(entry.transfer.key.text)),
          ("event", entry.transfer.event.map(JSON.string)), ("function", entry.transfer.function.map(JSON.string)),
        ])
      }
    }
    let tree = places.sorted { $0.key < $1.key }.filter { $0.value.before != $0.value.after }.map { path, values in
      JSON(present: [
        ("path", .string(path.text)), ("before", values.before?.json ?? .null), ("after", values.after?.json ?? .null),
      ])
    }
    return [("runs", .array(runs.map(\.json))), ("tree", .array(tree)), ("entries", .array(entries))]
  }
}

extension ReplayTrial.Run {
  fileprivate var json: JSON {
    JSON(present: [
      ("event", .string(pair.event.id.description)), ("function", .string(pair.name)), ("outcome", .string(outcome)),
      ("reason", reason.map(JSON.string)), ("recorded", .string(pair.status.text)),
      ("events", committed.flatMap { $0.receipt.events.isEmpty ? JSON?.none : .int(Int64($0.receipt.events.count)) }),
    ])
  }
}

extension ReplayPair.Status {
  /// What is recorded, in words.
  var text: String {
    switch self {
    case .never: "nothing"
    case .failed(let record): "\(record.state.rawValue): \(record.lastError)"
    case .resting(let record): record.state.rawValue
    case .finished(let execution): execution.reason.map { "\(execution.outcome.rawValue): \($0)" } ?? execution.outcome.rawValue
    case .underway: "on its way"
    }
  }
}

extension PathBytes {
  /// The place for people; of a priority, with `/.priority` at its end.
  var text: String { (path?.description ?? "?") + (isPriority ? "/.priority" : "") }
}

extension Replayer {
  /// Has the writer judge requests and take them back.
  func rehearse(_ requests: [CommitRequest]) async -> [Result<CommittedRequest, CommitRefusal>] {
    guard !requests.isEmpty else { return [] }
    return await withCheckedContinuation { continuation in
      writer.rehearse(requests) { continuation.resume(returning: $0) }
    }
  }
}
