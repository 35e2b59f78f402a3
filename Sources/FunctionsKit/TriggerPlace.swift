import TreeModel

/// Where a function is registered.
struct TriggerPlace: Sendable {
  let pattern: PathPattern
  /// The captures that are players: those typed ``UserID``.
  let players: Set<String>
  /// A place that the pattern matches, with a value of its type, for examples; nil where none can be made up.
  let sample: @Sendable () -> FunctionDefinition.Sample?
}
