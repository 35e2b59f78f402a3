/// Places where tests let the process die (spec: triggers-ledger §3.4). Does nothing in production.
public struct Failpoint: Sendable {
  /// The windows in which a death must neither lose an event nor pay it twice.
  public enum Place: String, Sendable, Hashable, CaseIterable {
    /// W3: the event is durable, its function has not begun.
    case committedNotDispatched
    /// W4: in the function's run, nothing of it is visible.
    case inHandler
    /// W5: the effect is on its way to the writer.
    case effectSubmitted
    /// W6: the effect is durable, memory does not know yet.
    case effectDurable
    /// W7: an attempt has failed and is not written down.
    case beforeAttemptRecord
    /// W7: the failed attempt is durable.
    case afterAttemptRecord
    /// W9: a replay has stored what it gives to the functions, and none of it has run.
    case replayHandedOver
  }

  private let reach: @Sendable (Place) -> Void

  /// Never dies: production.
  public static let none = Failpoint { _ in }

  public init(_ reach: @escaping @Sendable (Place) -> Void) {
    self.reach = reach
  }

  func callAsFunction(_ place: Place) { reach(place) }
}
