/// The end of a function's work on an event: written once, in the transaction of the effect.
public struct ExecutionRecord: Sendable, Hashable {
  /// How it ended. A failure is no end: see ``DeliveryRecord``.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    case done
    case skipped
  }

  /// Which event it ran for.
  public let event: EventID
  /// Which function ran.
  public let function: String
  /// How it ended.
  public let outcome: Outcome
  /// Why it was skipped; when done: what of a late run was not written, nil if all was.
  public let reason: String?
  /// Which attempt this was, from 1.
  public let attempt: Int
  /// Milliseconds since 1970.
  public let startedAt: Int64
  /// Milliseconds since 1970.
  public let finishedAt: Int64
  /// The commit of the effect; nil if the run changed nothing. The pipeline fills it in.
  public var effect: Revision?
  /// The function's settings of this run, as JSON.
  public let settings: String?

  public init(
    event: EventID, function: String, outcome: Outcome, reason: String?, attempt: Int, startedAt: Int64, finishedAt: Int64,
    effect: Revision? = nil, settings: String?
  ) {
    self.event = event
    self.function = function
    self.outcome = outcome
    self.reason = reason
    self.attempt = attempt
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.effect = effect
    self.settings = settings
  }
}
