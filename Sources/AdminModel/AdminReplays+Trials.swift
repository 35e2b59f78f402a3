import TreeModel

extension AdminReplays {
  /// What an order comes to for one function.
  package struct FunctionSurvey: AdminValue {
    package var name: String
    package var run: Int64
    package var alreadyDone: Int64
    package var resting: Int64
    package var handledBy: NamedValues<Int64>?
  }

  /// What an order comes to, counted without running anything.
  package struct Survey: AdminValue {
    package var run: Int64
    package var alreadyDone: Int64
    package var scanned: Int64
    package var suppressed: Int64?
    package var unknownFunction: Int64?
    package var functions: [FunctionSurvey]
  }

  /// A run without effect.
  package struct TrialRun: AdminValue {
    package var event: String
    package var function: String
    package var outcome: String
    package var reason: String?
    package var recorded: String
    package var events: Int64?
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

    package static let notes: [String: FieldNote] = [
      "through": .text("the last revision"),
      "recorded": .text("SHA-256 of what is there"),
      "rebuilt": .text("SHA-256 of what was built"),
    ]
  }
}
