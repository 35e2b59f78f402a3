/// An attempt that ended in a failure, kept for ever: what was tried, with which settings, and why it did not work.
///
/// What comes next is in the ``DeliveryRecord``; an attempt that succeeded has an ``ExecutionRecord``.
public struct FailedAttempt: Sendable, Hashable {
  /// For which event.
  public let event: EventID
  /// Which function.
  public let function: String
  /// The number of the attempt, from 1; counted anew after a replay.
  public let attempt: Int
  /// Milliseconds since 1970; nil if the process died in the attempt, and with it the memory of when it began.
  public let startedAt: Int64?
  /// Milliseconds since 1970.
  public let finishedAt: Int64
  /// Why; for people.
  public let error: String
  /// The function's settings of this run, as JSON.
  public let settings: String?

  public init(
    event: EventID, function: String, attempt: Int, startedAt: Int64?, finishedAt: Int64, error: String, settings: String?
  ) {
    self.event = event
    self.function = function
    self.attempt = attempt
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.error = error
    self.settings = settings
  }
}
