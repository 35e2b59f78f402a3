/// What became of a function's runs since the process started.
public struct FunctionCounts: Sendable, Hashable {
  public var done = 0
  public var skipped = 0
  /// Runs whose event was handled before: nothing was done.
  public var alreadyDone = 0
  /// Attempts that failed, timeouts included.
  public var failed = 0
  public var timedOut = 0
  public var dead = 0

  public init() {}
}
