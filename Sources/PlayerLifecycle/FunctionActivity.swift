package import FunctionsKit
package import StorageCore
package import TreeModel

/// What this target asks of the running functions: which there are, and to finish what they have begun. The composition of the
/// server implements it over the dispatcher of `Triggers`.
package protocol FunctionActivity: Sendable {
  /// The functions that are registered in this process, in that order.
  var descriptions: [FunctionDescription] { get }
  /// Waits until the events committed before the call are settled.
  ///
  /// - Returns: what is not, after `timeoutMilliseconds`, and what is settled without being done.
  func drain(timeoutMilliseconds: Int64) async -> DrainReport
}

extension FunctionActivity {
  /// None.
  package var descriptions: [FunctionDescription] { [] }

  /// Waits for the runs that have begun, and describes those of a player's events that did not end in time, a sentence each.
  func unfinishedRuns(for uid: String, timeoutMilliseconds: Int64) async -> [String] {
    let report = await drain(timeoutMilliseconds: timeoutMilliseconds)
    guard !report.isComplete else { return [] }
    return report.running.filter { WaitingWork.concerns($0.event, uid: uid) }
      .map { "\($0.function) for \($0.event) is running" }
  }
}

/// What a drain left.
package struct DrainReport: Sendable, Hashable {
  /// An event that a function has not finished.
  package struct Run: Sendable, Hashable {
    package let event: EventID
    package let function: String
    /// `queued`, `running`, `waiting`, `paused` or `dead`.
    package let state: String
    /// The last failure; nil if there was none.
    package let lastError: String?

    package init(event: EventID, function: String, state: String, lastError: String?) {
      self.event = event
      self.function = function
      self.state = state
      self.lastError = lastError
    }
  }

  /// Whether everything was settled in time.
  package let isComplete: Bool
  /// Runs that are still going on or were not begun.
  package let running: [Run]
  /// What counts as settled and is not done: runs that wait for a retry, are paused, or are dead letters.
  package let unfinished: [Run]
  /// Why nothing is known of the runs; nil if it is.
  package let failure: String?

  package init(isComplete: Bool, running: [Run], unfinished: [Run], failure: String? = nil) {
    self.isComplete = isComplete
    self.running = running
    self.unfinished = unfinished
    self.failure = failure
  }
}

/// A registered function, with what explanations and listings repeat of it and questions that they can ask it.
package struct FunctionDescription: Sendable {
  /// What it is registered as.
  package let name: String
  /// Names that it had before: what it did under them counts as done.
  package let formerly: [String]
  /// Where it wants changes.
  package let pattern: PathPattern
  /// The captures of the pattern that are players, by name.
  package let players: Set<String>
  /// Which kinds of change it wants.
  package let kinds: Set<EventRecord.Kind>
  /// How the sentence "It runs on" goes on: `a creation`, `an update rising to 5`.
  package let runsOn: String
  /// Its settings with their values; absent if it has none.
  package let settings: TreeNode
  /// The same without the configuration's overrides.
  package let defaults: TreeNode
  /// Where it keeps rewards that wait for the player who gets them.
  package let heldRewards: [HeldRewardPath]
  /// A change that it wants, where its rule names one.
  package let example: (before: Scalar, after: Scalar)?
  /// Whether it wants a change of the leaf at exactly the path; nil stands for nothing, and for a map.
  package let admits: @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool

  package init(
    name: String, formerly: [String] = [], pattern: PathPattern, players: Set<String>, kinds: Set<EventRecord.Kind>,
    runsOn: String, settings: TreeNode = .absent, defaults: TreeNode = .absent, heldRewards: [HeldRewardPath] = [],
    example: (before: Scalar, after: Scalar)? = nil, admits: @escaping @Sendable (Scalar?, Scalar?) -> Bool
  ) {
    self.name = name
    self.formerly = formerly
    self.pattern = pattern
    self.players = players
    self.kinds = kinds
    self.runsOn = runsOn
    self.settings = settings
    self.defaults = defaults
    self.heldRewards = heldRewards
    self.example = example
    self.admits = admits
  }

  /// A definition as its author registered it.
  package init(_ definition: FunctionDefinition) {
    let (kinds, noun): (Set<EventRecord.Kind>, String) =
      switch definition.trigger {
      case .onCreate: ([.created], "a creation")
      case .onUpdate: ([.updated], "an update")
      case .onDelete: ([.deleted], "a removal")
      case .onWrite: ([.created, .updated, .deleted], "any change")
      }
    let filter = definition.filter
    self.init(
      name: definition.name, formerly: definition.options.formerly, pattern: definition.pattern, players: definition.players,
      kinds: kinds, runsOn: noun + filter.words, settings: definition.settings, defaults: definition.defaults,
      heldRewards: definition.options.heldRewards,
      example: filter.example.map { ($0.before, $0.after) }, admits: { filter(before: $0, after: $1) })
  }
}
