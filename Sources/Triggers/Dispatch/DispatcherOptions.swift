package import StorageCore

/// How the dispatcher works; with all limits.
package struct DispatcherOptions: Sendable {
  /// The kinds of coin, and where balances stand: what `credit` and `debit` may name.
  package var currencies: [Currency]
  /// The write path's caps, the database's own: chains of functions end at `hopsMax`.
  package var limits: WriteLimits
  /// Functions that run at the same time.
  package var runnerCount: Int
  /// Events held in memory; what is beyond waits in storage.
  package var eventsMax: Int
  /// Below this many, events that wait in storage are loaded.
  package var eventsLow: Int
  /// Deliveries held in memory behind a failing one of their key; what is beyond waits in storage.
  package var behindMax: Int
  /// Runs of one function that may be abandoned at their deadline before the function is paused.
  package var abandonedMax: Int
  /// Deaths of the process during the run of one event before it becomes a dead letter and the function is paused.
  package var crashesMax: Int
  /// Repetitions of a run whose `transaction` met another value.
  package var rerunsMax: Int
  /// How long the record of a skipped run may wait for company, in milliseconds.
  package var skipDelay: Int64
  /// Skipped runs whose records wait for company.
  package var skipsMax: Int
  /// The file in which runs are noted, so that one that kills the process is found; nil notes nothing.
  package var crashNotesPath: String?
  /// How long a stop waits for functions that were cancelled, in milliseconds.
  package var stopDelay: Int64
  /// What measures the timeouts of `drain` and `settlement`: the machine's clock, also where the server's is moved.
  package var waitClock: any WallClock
  /// By which players who were paid and left are known again; nil where that is not asked for.
  package var identities: IdentityHash?
  /// What may run on the writer.
  package var inline = InlineOptions()
  /// Where tests let the process die.
  package var failpoint: Failpoint

  /// Options; the defaults fit two cores. A cap that contradicts another is a mistake of the programmer and traps.
  package init(
    currencies: [Currency] = [.piecesOfEight], limits: WriteLimits = WriteLimits(), runnerCount: Int = 4,
    eventsMax: Int = 65_536, eventsLow: Int = 16_384, behindMax: Int = 256, abandonedMax: Int = 4, crashesMax: Int = 3,
    rerunsMax: Int = 25,
    skipDelay: Int64 = 1000, skipsMax: Int = 128, crashNotesPath: String? = nil, stopDelay: Int64 = 2000,
    waitClock: any WallClock = SystemClock(),
    failpoint: Failpoint = .none
  ) {
    precondition(behindMax > 0, "A failing event keeps at least one behind it.")
    precondition(runnerCount > 0, "Functions need at least one runner.")
    precondition(eventsLow < eventsMax, "Loading begins below the cap: \(eventsLow) is not below \(eventsMax).")
    self.currencies = currencies
    self.limits = limits
    self.runnerCount = runnerCount
    self.eventsMax = eventsMax
    self.eventsLow = eventsLow
    self.behindMax = behindMax
    self.abandonedMax = abandonedMax
    self.crashesMax = crashesMax
    self.rerunsMax = rerunsMax
    self.skipDelay = skipDelay
    self.skipsMax = skipsMax
    self.crashNotesPath = crashNotesPath
    self.stopDelay = stopDelay
    self.waitClock = waitClock
    self.failpoint = failpoint
  }
}

/// Points at which tests let the process die. Does nothing in production.
public struct Failpoint: Sendable {
  /// The windows in which a death must neither lose an event nor pay it twice.
  public enum Point: String, Sendable, Hashable, CaseIterable {
    /// W3: the event is durable, its function has not begun.
    case committedNotDispatched
    /// W4: in the function's run, nothing of it is visible.
    case inHandler
    /// W5: the effect is on its way to the writer.
    case effectSubmitted
    /// W5: the effect of a run on the writer was judged, and neither it nor its event is durable.
    case effectJudged
    /// W6: the effect is durable, memory does not know yet.
    case effectDurable
    /// W7: an attempt has failed and is not written down.
    case beforeAttemptRecord
    /// W7: the failed attempt is durable.
    case afterAttemptRecord
    /// W9: a replay has stored what it gives to the functions, and none of it has run.
    case replayHandedOver
  }

  private let reach: @Sendable (Point) -> Void

  /// Never dies: production.
  public static let none = Failpoint { _ in }

  public init(_ reach: @escaping @Sendable (Point) -> Void) {
    self.reach = reach
  }

  func callAsFunction(_ point: Point) { reach(point) }
}
