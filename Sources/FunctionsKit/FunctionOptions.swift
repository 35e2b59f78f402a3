public import TreeModel

/// How a function is run; the defaults fit a reward.
public struct FunctionOptions: Sendable {
  /// Which events wait for each other.
  public enum Order: Sendable, Hashable {
    /// Events with the same first capture, one after the other: a failing one holds back the later ones of its key.
    case perKey
    /// None.
    case unordered
  }

  /// Where a run may take place.
  public enum InlineMode: String, Sendable, Hashable, CaseIterable {
    /// On the function's own threads, once the event's commit is on disk.
    case never
    /// While the function is measured as short: on the writer, right after the event's commit was judged, so that the effect
    /// is in the same batch and nobody waits for it. A run that suspends, or takes too long, is repeated on a thread.
    case whenShort
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
  /// Where it keeps rewards for referrers who cannot be paid yet; merging a player's accounts moves them along.
  public var heldRewards: [HeldRewardPath]
  /// Whether it may run on the writer while it is short; the configuration overrides it by the setting `inline`.
  public var inline: InlineMode

  public init(
    deadline: Duration = .seconds(60), order: Order = .perKey, retry: RetryPolicy = RetryPolicy(), formerly: [String] = [],
    limits: RewardLimits? = nil, heldRewards: [HeldRewardPath] = [], inline: InlineMode = .whenShort
  ) {
    self.deadline = deadline
    self.order = order
    self.retry = retry
    self.formerly = formerly
    self.limits = limits
    self.heldRewards = heldRewards
    self.inline = inline
  }
}

/// Where a function keeps rewards that wait for a referrer: one value for each referrer and player, written by the function.
///
/// When two accounts of a player are merged, the value moves to the name that the player goes on with, in the same commit as
/// the referral: the reward is then paid once, for that name.
///
/// ```swift
/// let held = TreePath<Int64, UserID, UserID>("/held_referrals/{referrer}/{player}")
/// let options = FunctionOptions(heldRewards: [HeldRewardPath(held)])
/// ```
public struct HeldRewardPath: Sendable, Hashable {
  /// Captures the referrer first, then the player.
  public let pattern: PathPattern

  /// - Parameter path: its first capture is the referrer who gets the reward, its second the player whom it is about.
  public init<Value>(_ path: TreePath<Value, UserID, UserID>) {
    pattern = path.pattern
  }

  /// The path of one reward; nil if one of the names can be no key.
  public func path(referrer: String, player: String) -> Path? {
    try? pattern.path(filling: [referrer, player])
  }
}

/// When a failed event is tried again, and when it is given up.
public struct RetryPolicy: Sendable, Hashable {
  /// Attempts before the event becomes a dead letter.
  public var attempts: Int
  /// The delay after the first failure; doubled after each further one, with ±20 % of jitter.
  public var base: Duration
  /// The longest delay.
  public var cap: Duration

  /// 12 attempts within about 27 minutes.
  public init(attempts: Int = 12, base: Duration = .seconds(1), cap: Duration = .seconds(600)) {
    guard attempts > 0 else { Misuse.stop("A function is attempted at least once, not \(attempts) times.") }
    self.attempts = attempts
    self.base = base
    self.cap = cap
  }

  /// The delay before the next attempt, without jitter.
  /// - Parameter failures: how many attempts have failed, at least 1.
  public func delay(afterFailures failures: Int) -> Duration {
    var delay = base
    for _ in 1..<max(failures, 1) {
      delay += delay
      if delay >= cap { return cap }
    }
    return min(delay, cap)
  }
}

/// A function's parameters, with defaults in code: overridden in the configuration under the function's name, printed at
/// start, and recorded with each run.
public protocol FunctionSettings: Codable, Sendable {
  /// Names of settings that are nil by default, which the encoded defaults therefore do not show.
  static var optionalNames: Set<String> { get }
}

extension FunctionSettings {
  public static var optionalNames: Set<String> { [] }
}

/// The settings of a function that has none.
struct NoSettings: FunctionSettings {}

/// What is wrong with one setting of a function.
public struct SettingError: Sendable, Hashable {
  /// The function's name.
  public let function: String
  /// The setting; nil where it is not known which.
  public let setting: String?
  /// What is wrong, and what to do.
  public let message: String
}
