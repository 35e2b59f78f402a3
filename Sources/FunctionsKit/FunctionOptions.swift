/// How a function is run; the defaults fit a reward.
public struct FunctionOptions: Sendable {
  /// Which events wait for each other.
  public enum Order: Sendable, Hashable {
    /// Events with the same first capture, one after the other: a failing one holds back the later ones of its key.
    case perKey
    /// None.
    case unordered
  }

  /// How long a run may take before it is abandoned and counted as a failure.
  public var deadline: Duration
  /// Whether events of one key wait for each other.
  public var order: Order
  /// When a failed event is tried again.
  public var retry: RetryPolicy
  /// Names that the function had before: what it did under them counts as done.
  public var formerly: [String]
  /// What its payments must meet to be made at once; the configuration overrides each by the setting of that name. Nil: nothing
  /// is asked of them, and there are no such settings.
  public var limits: RewardLimits?

  public init(
    deadline: Duration = .seconds(60), order: Order = .perKey, retry: RetryPolicy = RetryPolicy(), formerly: [String] = [],
    limits: RewardLimits? = nil
  ) {
    self.deadline = deadline
    self.order = order
    self.retry = retry
    self.formerly = formerly
    self.limits = limits
  }
}
