/// What became of a function's runs since the process started.
public struct FunctionCounts: Sendable, Hashable {
  /// Runs that ended as done, with or without an effect.
  public var done = 0
  /// Runs that ended as skipped, whatever the reason.
  public var skipped = 0
  /// Runs whose event was handled before: nothing was done.
  public var alreadyDone = 0
  /// Attempts that failed, timeouts included.
  public var failed = 0
  /// Attempts that did not come back within the deadline and were abandoned.
  public var timedOut = 0
  /// Events that became dead letters.
  public var dead = 0

  public init() {}
}
