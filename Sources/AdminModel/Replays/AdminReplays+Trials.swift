import TreeModel

extension AdminReplays {
  /// What an order comes to for one function.
  package struct FunctionSurvey: AdminValue {
    package var name: String
    package var run: Int64
    package var alreadyDone: Int64
    package var resting: Int64
    package var handledBy: NamedValues<Int64>?

    package init(name: String, run: Int64, alreadyDone: Int64, resting: Int64, handledBy: NamedValues<Int64>? = nil) {
      self.name = name
      self.run = run
      self.alreadyDone = alreadyDone
      self.resting = resting
      self.handledBy = handledBy
    }
  }

  /// What an order comes to, counted without running anything.
  package struct Survey: AdminValue {
    package var run: Int64
    package var alreadyDone: Int64
    package var scanned: Int64
    package var suppressed: Int64?
    package var unknownFunction: Int64?
    package var functions: [FunctionSurvey]

    package init(
      run: Int64, alreadyDone: Int64, scanned: Int64, suppressed: Int64? = nil, unknownFunction: Int64? = nil,
      functions: [FunctionSurvey]
    ) {
      self.run = run
      self.alreadyDone = alreadyDone
      self.scanned = scanned
      self.suppressed = suppressed
      self.unknownFunction = unknownFunction
      self.functions = functions
    }
  }

  /// A run without effect.
  package struct TrialRun: AdminValue {
    package var event: String
    package var function: String
    package var outcome: String
    package var reason: String?
    package var recorded: String
    package var events: Int64?

    package init(
      event: String, function: String, outcome: String, reason: String? = nil, recorded: String, events: Int64? = nil
    ) {
      self.event = event
      self.function = function
      self.outcome = outcome
      self.reason = reason
      self.recorded = recorded
      self.events = events
    }
  }

  /// A ledger entry that a replay would make.
  package struct TrialEntry: AdminValue {
    package var debit: String
    package var credit: String
    package var amount: Int64
    package var unit: String
    package var code: String
    package var key: String
    package var event: String?
    package var function: String?

    package init(
      debit: String, credit: String, amount: Int64, unit: String, code: String, key: String, event: String? = nil,
      function: String? = nil
    ) {
      self.debit = debit
      self.credit = credit
      self.amount = amount
      self.unit = unit
      self.code = code
      self.key = key
      self.event = event
      self.function = function
    }

    package static let notes: [String: FieldNote] = [
      "amount": .only(.int64)
    ]
  }

  /// A run that would end otherwise today.
  package struct Divergence: AdminValue {
    package var event: String
    package var function: String
    package var recorded: String
    package var now: String

    package init(event: String, function: String, recorded: String, now: String) {
      self.event = event
      self.function = function
      self.recorded = recorded
      self.now = now
    }
  }

  /// What a replay would come to; a dry run also says what exactly would change.
  package struct Trial: AdminValue {
    package var order: Ordered
    package var through: Int64
    package var pruned: Int64?
    package var survey: Survey
    package var tried: Int64
    package var outcomes: NamedValues<Int64>
    package var coins: NamedValues<Int64>
    package var runs: [TrialRun]?
    package var tree: [AdminEvents.Change]?
    package var entries: [TrialEntry]?
    package var compared: Int64?
    package var divergences: [Divergence]?

    /// What a preview tells; a dry run adds its details.
    package init(
      order: Ordered, through: Int64, pruned: Int64? = nil, survey: Survey, tried: Int64, outcomes: NamedValues<Int64>,
      coins: NamedValues<Int64>
    ) {
      self.order = order
      self.through = through
      self.pruned = pruned
      self.survey = survey
      self.tried = tried
      self.outcomes = outcomes
      self.coins = coins
    }
  }

  /// How a namespace is built again.
  package struct RebuildOrder: AdminValue {
    /// An empty folder of the server's machine, which keeps what is built.
    package var into: String?
    /// Why, for the audit log.
    package var reason: String?
    /// Whether the functions run again, to list what they would do differently.
    package var rerun: Bool?

    package init(into: String? = nil, reason: String? = nil, rerun: Bool? = nil) {
      self.into = into
      self.reason = reason
      self.rerun = rerun
    }

    package static let notes: [String: FieldNote] = [
      "into": .only(.form("^/"), text: "an empty folder of the server's machine, which keeps what is built"),
      "reason": .text("why, for the audit log"),
      "rerun": .text("whether the functions run again, to list what they would do differently"),
    ]
  }

  /// What functions would do differently today.
  package struct Comparison: AdminValue {
    package var compared: Int64
    package var divergent: Int64
    package var divergences: [Divergence]

    package init(compared: Int64, divergent: Int64, divergences: [Divergence]) {
      self.compared = compared
      self.divergent = divergent
      self.divergences = divergences
    }
  }

  /// Whether the recorded commits give the same store.
  package struct Rebuild: AdminValue {
    package var equal: Bool
    /// The last revision.
    package var through: Int64
    package var commits: Int64
    package var entries: Int64
    package var executions: Int64
    /// SHA-256 of what is there.
    package var recorded: String
    /// SHA-256 of what was built.
    package var rebuilt: String
    package var faultCount: Int64
    package var faults: [String]
    package var checkpoint: Int64?
    package var folder: String?
    package var rerun: Comparison?

    package init(
      equal: Bool, through: Int64, commits: Int64, entries: Int64, executions: Int64, recorded: String, rebuilt: String,
      faultCount: Int64, faults: [String], checkpoint: Int64? = nil, folder: String? = nil, rerun: Comparison? = nil
    ) {
      self.equal = equal
      self.through = through
      self.commits = commits
      self.entries = entries
      self.executions = executions
      self.recorded = recorded
      self.rebuilt = rebuilt
      self.faultCount = faultCount
      self.faults = faults
      self.checkpoint = checkpoint
      self.folder = folder
      self.rerun = rerun
    }

    package static let notes: [String: FieldNote] = [
      "through": .text("the last revision"),
      "recorded": .text("SHA-256 of what is there"),
      "rebuilt": .text("SHA-256 of what was built"),
    ]
  }
}
