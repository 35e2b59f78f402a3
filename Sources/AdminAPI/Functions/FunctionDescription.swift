package import StorageCore
package import TreeModel

/// A registered function, in words that the surfaces can repeat and questions that they can ask it.
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
  /// Its settings with their values; nil if it has none.
  package let settings: JSON?
  /// A change that it wants, where its rule names one.
  package let example: (before: Scalar, after: Scalar)?
  /// Whether it wants a change of the leaf at exactly the place; nil stands for nothing, and for a map.
  package let admits: @Sendable (_ before: Scalar?, _ after: Scalar?) -> Bool

  package init(
    name: String, formerly: [String], pattern: PathPattern, players: Set<String>, kinds: Set<EventRecord.Kind>,
    runsOn: String, settings: JSON? = nil,
    example: (before: Scalar, after: Scalar)? = nil, admits: @escaping @Sendable (Scalar?, Scalar?) -> Bool
  ) {
    self.name = name
    self.formerly = formerly
    self.pattern = pattern
    self.players = players
    self.kinds = kinds
    self.runsOn = runsOn
    self.settings = settings
    self.example = example
    self.admits = admits
  }
}
