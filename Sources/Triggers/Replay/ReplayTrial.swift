import FunctionsKit
import RewardModel
package import StorageCore
import TreeModel

extension Replayer {
  /// What an order would come to: counts by function and outcome, and coins. Nothing is written.
  ///
  /// The functions are run without effect for the outcomes and the coins, at most ``ReplayOptions/trialsMax`` times; how many
  /// were run is in the forecast.
  package func preview(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> ReplayForecast {
    let (scan, progress) = try beginning(of: order, in: namespace)
    let survey = try await ReplaySurvey.make(of: scan, from: progress.cursor, by: self)
    return ReplayForecast(order, progress, survey, await ReplayTrial.make(of: survey.toTry, by: self))
  }

  /// Runs functions on the state that their events pinned, and takes everything back: what would change in the tree and in
  /// the ledger, and how each run would end compared with what is recorded. Nothing is written.
  ///
  /// Pairs that were handled before are run too, where the order covers them, and compared with their records.
  package func dryRun(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> ReplayForecast {
    let (scan, progress) = try beginning(of: order, in: namespace)
    let survey = try await ReplaySurvey.make(of: scan, from: progress.cursor, by: self)
    let trial = await ReplayTrial.make(of: survey.toTry, by: self)
    let divergences = try await Divergence.find(in: survey.finished, by: self)
    var forecast = ReplayForecast(order, progress, survey, trial)
    forecast.details = ReplayForecast.Details(
      runs: trial.runs.map(ReplayForecast.Run.init), changes: trial.changes, transfers: trial.transfers,
      compared: survey.finished.count, divergences: divergences)
    return forecast
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
    let endings = await TrialRunner(dispatcher: replayer.dispatcher).run(pairs)
    let requests = endings.compactMap { ending -> CommitRequest? in
      if case .effect(let request, _, _) = ending { request } else { nil }
    }
    var results = await replayer.rehearse(requests)[...]
    var trial = ReplayTrial()
    for (pair, ending) in zip(pairs, endings) {
      switch ending {
      case .skipped(let reason): trial.add(pair, outcome: "skipped", reason: reason)
      case .failed(let error, _): trial.add(pair, outcome: "failed", reason: error)
      case .effect(_, let execution, _):
        guard let result = results.popFirst() else { continue }
        switch result {
        case .success(let committed): trial.add(pair, outcome: "done", reason: execution.reason, committed: committed)
        case .failure(let refusal): trial.add(pair, refused: refusal)
        }
      }
    }
    return trial
  }

  private mutating func add(_ pair: ReplayPair, outcome: String, reason: String?, committed: CommittedRequest? = nil) {
    runs.append(Run(pair: pair, outcome: outcome, reason: reason, committed: committed))
  }

  /// As the dispatcher takes a refusal.
  private mutating func add(_ pair: ReplayPair, refused refusal: CommitError) {
    switch refusal.code {
    case .keyTaken(let entry): add(pair, outcome: "skipped", reason: "already_paid: entry \(entry.sequence)")
    case .insufficientFunds: add(pair, outcome: "skipped", reason: "insufficient_funds")
    case .stale, .recordChanged: add(pair, outcome: "again", reason: refusal.message)
    default: add(pair, outcome: "failed", reason: refusal.message)
    }
  }

  // MARK: The report

  /// How the runs ended, and what they would pay.
  var tally: (outcomes: [String: Int64], coins: [String: Int64]) {
    var outcomes: [String: Int64] = [:]
    var coins: [String: Int64] = [:]
    for run in runs {
      let word = run.outcome == "skipped" ? "skipped: \(ReplayTally.firstWord(run.reason ?? ""))" : run.outcome
      outcomes[word, default: 0] += 1
      for entry in run.committed?.receipt.entries ?? [] where entry.transfer.function == run.pair.name {
        coins[entry.transfer.unit] = (coins[entry.transfer.unit] ?? 0).addingUpTo(entry.transfer.signedAmount)
      }
    }
    return (outcomes, coins)
  }

  /// Each leaf of the tree that would change, by path.
  var changes: [LeafChange] {
    var found: [PathBytes: (before: Scalar?, after: Scalar?)] = [:]
    for change in runs.compactMap(\.committed).flatMap(\.changes) {
      found[change.path] = (found[change.path].map { $0.before } ?? change.before, change.after)
    }
    return found.sorted { $0.key < $1.key }.filter { $0.value.before != $0.value.after }.map { path, values in
      LeafChange(path: path, before: values.before, after: values.after)
    }
  }

  /// Each entry that would be made.
  var transfers: [LedgerTransfer] {
    runs.compactMap(\.committed).flatMap { $0.receipt.entries.map(\.transfer) }
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

extension Replayer {
  /// Has the writer judge requests and take them back.
  func rehearse(_ requests: [CommitRequest]) async -> [Result<CommittedRequest, CommitError>] {
    guard !requests.isEmpty else { return [] }
    return await withCheckedContinuation { continuation in
      writer.rehearse(requests) { continuation.resume(returning: $0) }
    }
  }
}

extension Replayer {
  /// Runs the functions on everything that they have handled, without effect, and lists where they would do something else
  /// today than what is recorded (the second report of a rebuild).
  ///
  /// - `listMax`: divergences that are listed; all are counted.
  /// - `listMax`: divergences that are listed; all are counted.
  package func compareAll(in namespace: NamespaceID, because reason: String, by actor: Actor, listMax: Int = 100) async throws
    -> ReplayComparison
  {
    let order = ReplayOrder(mode: .all, allowsHandled: true, reason: reason, actor: actor)
    let (scan, progress) = try beginning(of: order, in: namespace)
    var next = progress.cursor
    var compared: Int64 = 0
    var divergent: Int64 = 0
    var listed: [Divergence] = []
    while let cursor = next {
      try Task.checkCancellation()
      let page = try await onOwnThread { [engine] in
        try engine.read { (snapshot) throws(StorageError) in try scan.page(from: cursor, in: snapshot) }
      }
      let finished = page.pairs.filter { if case .finished = $0.status { true } else { false } }
      let divergences = try await Divergence.find(in: finished, by: self)
      compared += Int64(finished.count)
      divergent += Int64(divergences.count)
      listed += divergences.prefix(listMax - listed.count)
      next = page.next
    }
    return ReplayComparison(compared: compared, divergent: divergent, divergences: listed)
  }
}

/// How what the functions do today compares with everything that is recorded of them.
package struct ReplayComparison: Sendable {
  package let compared: Int64
  /// How many would end otherwise.
  package let divergent: Int64
  /// The first of these.
  package let divergences: [Divergence]
}

/// A run that would do something else today than what is recorded.
package struct Divergence: Sendable {
  package let event: EventID
  package let function: String
  /// What is recorded, in words.
  package let recorded: String
  /// What it would do now, in words.
  package let now: String

  /// Runs the functions of pairs that were handled before, and compares.
  static func find(in pairs: [ReplayPair], by replayer: Replayer) async throws -> [Divergence] {
    let comparable = pairs.filter { pair in
      // A person's decision is not the function's.
      if case .finished(let execution) = pair.status {
        ReplayTally.firstWord(execution.reason ?? "") != "acknowledged"
      } else {
        false
      }
    }
    var found: [Divergence] = []
    let endings = await TrialRunner(dispatcher: replayer.dispatcher).run(comparable)
    for (pair, ending) in zip(comparable, endings) {
      guard case .finished(let execution) = pair.status else { continue }
      let difference = try replayer.engine.read { (snapshot) throws(StorageError) in
        try Self.difference(ending, execution, pair, snapshot)
      }
      if let (recorded, now) = difference {
        found.append(Divergence(event: pair.event.id, function: pair.name, recorded: recorded, now: now))
      }
    }
    return found
  }

  private static func difference(
    _ ending: RunEnding, _ execution: ExecutionRecord, _ pair: ReplayPair, _ snapshot: any Snapshot
  ) throws(StorageError) -> (String, String)? {
    let recorded = pair.status.text
    switch ending {
    case .failed(let error, _): return (recorded, "failed: \(error)")
    case .skipped(let reason):
      let isSame =
        execution.outcome == .skipped
        && ReplayTally.firstWord(reason) == ReplayTally.firstWord(execution.reason ?? "")
      return isSame ? nil : (recorded, "skipped: \(reason)")
    case .effect(let request, _, _):
      if execution.outcome == .skipped {
        // Those are the writer's words, on what the run asked for.
        let isWriters = ["already_paid", "insufficient_funds"].contains(ReplayTally.firstWord(execution.reason ?? ""))
        return isWriters ? nil : (recorded, text(request.ledger.transfers))
      }
      return try difference(request, execution, pair.event.namespace, snapshot)
    }
  }

  private static func difference(
    _ request: CommitRequest, _ execution: ExecutionRecord, _ namespace: NamespaceID, _ snapshot: any Snapshot
  ) throws(StorageError) -> (String, String)? {
    var paid: [LedgerTransfer] = []
    if let effect = execution.effect {
      paid = try snapshot.entries(in: namespace, of: effect).map(\.transfer).filter { $0.function == execution.function }
    }
    if lines(paid) != lines(request.ledger.transfers) { return (text(paid), text(request.ledger.transfers)) }
    guard let effect = execution.effect, execution.reason == nil else { return nil }
    for assignment in request.operations.flatMap(\.assignments) {
      guard case .node(let write) = assignment.value, write.slots.isEmpty else { continue }
      let place = PathBytes(assignment.path)
      // One more than what was written shows that it is something else.
      let limit = write.node.leaves(at: place).count + 1
      let leaves = try snapshot.leaves(in: namespace, under: place, asOf: effect, limit: limit)
      guard let node = TreeNode(leaves: leaves.map(\.leaf), at: place), node != write.node else { continue }
      return ("\(assignment.path) = \(json(node))", "\(assignment.path) = \(json(write.node))")
    }
    return nil
  }

  private static func lines(_ transfers: [LedgerTransfer]) -> [String] {
    transfers.map { "\($0.amount) \($0.unit) from \($0.debit) to \($0.credit)" }.sorted()
  }

  private static func text(_ transfers: [LedgerTransfer]) -> String {
    transfers.isEmpty ? "done, nothing paid" : "pays " + lines(transfers).joined(separator: ", ")
  }

  private static func json(_ node: TreeNode) -> String {
    String(decoding: node.json(.export).prefix(200), as: UTF8.self)
  }
}
