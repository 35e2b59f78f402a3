/// What the start found out about the registered functions, compared with what storage remembers.
public struct StartReport: Sendable, Hashable {
  /// Functions that were not there before: they see events from now on.
  public var new: [String] = []
  /// Functions that nobody registered any more.
  public var missing: [String] = []
  /// Functions whose pattern or kind is another.
  public var changed: [String] = []
  /// Functions that are paused.
  public var paused: [String] = []
  /// Runs that the last process died of, as `function event`: nothing else ran.
  public var crashed: [String] = []
  /// Runs that were under way, with others, when the last process died, as `function event`.
  public var suspects: [String] = []
  /// Waiting deliveries that became dead letters because their function is missing.
  public var deadLetters = 0
  /// Deliveries that wait for a retry.
  public var waiting = 0

  public init() {}
}
