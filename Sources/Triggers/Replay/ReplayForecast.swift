package import RewardModel
package import StorageCore
package import TreeModel

/// What a replay order would come to, as a preview or a dry run found out.
package struct ReplayForecast: Sendable {
  /// A run of a function without effect.
  package struct Run: Sendable {
    package let event: EventID
    package let function: String
    /// `done`, `skipped`, `failed`, or `again`: it depends on an earlier one of the trial and would be run once more.
    package let outcome: String
    package let reason: String?
    /// What is recorded of the event for the function, in words.
    package let recorded: String
    /// Events that its effect would cause.
    package let causedEvents: Int

    init(_ run: ReplayTrial.Run) {
      event = run.pair.event.id
      function = run.pair.name
      outcome = run.outcome
      reason = run.reason
      recorded = run.pair.status.text
      causedEvents = run.committed?.receipt.events.count ?? 0
    }
  }

  /// What a dry run tells beside the counts.
  package struct Details: Sendable {
    package let runs: [Run]
    /// Leaves of the tree that would change, by path.
    package let changes: [LeafChange]
    /// What would be entered into the ledger.
    package let transfers: [LedgerTransfer]
    /// Runs that were compared with their records.
    package let compared: Int
    package let divergences: [Divergence]
  }

  package let order: ReplayOrder
  /// The last revision that counts.
  package let through: Revision
  /// Up to here the log was pruned: earlier events are not looked at. Zero if it was not.
  package let pruned: Revision
  package let survey: ReplaySurvey
  /// Runs that were made.
  package let tried: Int
  /// How they ended: `done`, `skipped: REASON`, `failed`, `again`.
  package let outcomes: [String: Int64]
  /// What they would pay, by unit.
  package let coins: [String: Int64]
  /// Nil in a preview.
  package var details: Details?

  init(_ order: ReplayOrder, _ progress: ReplayProgress, _ survey: ReplaySurvey, _ trial: ReplayTrial) {
    self.order = order
    through = progress.through
    pruned = progress.pruned
    self.survey = survey
    tried = trial.runs.count
    (outcomes, coins) = trial.tally
  }
}

/// What an order comes to, counted without running anything.
package struct ReplaySurvey: Sendable {
  package struct Counts: Sendable {
    /// Would be given to the function.
    package var toRun: Int64 = 0
    /// Were handled by it before: nothing would happen.
    package var alreadyDone: Int64 = 0
    /// Wait for something else: for the function to be resumed, or for another event of their key.
    package var resting: Int64 = 0
    /// Of those that would be given: how many another function has handled, by its name.
    package var handledBy: [String: Int64] = [:]
  }

  /// By the name of the function.
  package private(set) var functions: [String: Counts] = [:]
  /// The first pairs that would be given, for trials.
  private(set) var toTry: [ReplayPair] = []
  /// The first pairs that were handled before, for trials.
  private(set) var finished: [ReplayPair] = []
  /// Commits, or records, that were looked at.
  package private(set) var scanned: Int64 = 0
  /// Commits among them that were written with triggers suppressed.
  package private(set) var suppressed: Int64 = 0
  /// Dead letters of functions that are no longer registered.
  package private(set) var unknown: Int64 = 0

  package var toRun: Int64 { functions.values.reduce(0) { $0 + $1.toRun } }
  package var alreadyDone: Int64 { functions.values.reduce(0) { $0 + $1.alreadyDone } }

  /// Goes through everything that an order is about.
  static func make(of scan: ReplayScan, from start: ReplayCursor?, by replayer: Replayer) async throws -> ReplaySurvey {
    let trialsMax = replayer.options.trialsMax
    return try await replayer.onOwnThread { [engine = replayer.engine] in
      var survey = ReplaySurvey()
      var next = start
      while let cursor = next {
        try Task.checkCancellation()
        let page = try engine.read { (snapshot) throws(StorageError) in try scan.page(from: cursor, in: snapshot) }
        survey.add(page, trialsMax: trialsMax)
        next = page.next
      }
      return survey
    }
  }

  private mutating func add(_ page: ReplayScan.Page, trialsMax: Int) {
    scanned += Int64(page.scanned)
    suppressed += Int64(page.suppressed)
    unknown += Int64(page.unknown)
    for pair in page.pairs {
      switch pair.status {
      case .finished:
        functions[pair.name, default: Counts()].alreadyDone += 1
        if finished.count < trialsMax { finished.append(pair) }
      case .resting, .underway: functions[pair.name, default: Counts()].resting += 1
      case .never, .failed:
        functions[pair.name, default: Counts()].toRun += 1
        for other in pair.handledBy { functions[pair.name, default: Counts()].handledBy[other, default: 0] += 1 }
        if toTry.count < trialsMax { toTry.append(pair) }
      }
    }
  }
}
