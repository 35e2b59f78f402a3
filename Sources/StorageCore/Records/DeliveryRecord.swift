/// An event that a function could not finish at once: it waits for a retry, is paused, or is a dead letter.
///
/// A pair of event and function has an execution record, a delivery record, or neither (not yet looked at); never both.
public struct DeliveryRecord: Sendable, Hashable {
  /// What it waits for: its time (`waiting`), its function (`paused`), or a person (`dead`).
  public enum State: String, Sendable, Hashable, CaseIterable {
    case waiting
    case paused
    case dead
  }

  /// Which event.
  public let event: EventID
  /// What happened at the event's path.
  public let kind: EventRecord.Kind
  /// How many functions stand between the first write and the event.
  public let hop: Int
  /// Which function could not finish it.
  public let function: String
  /// What it waits for.
  public let state: State
  /// Attempts that ended in a failure so far.
  public let attempts: Int
  /// How many of them ended with the death of the process.
  public let crashes: Int
  /// When to try again, in milliseconds since 1970; meaningful while waiting.
  public let nextAttemptAt: Int64
  /// Why the last attempt failed, or why the function is paused; for people.
  public let lastError: String
  /// When this was written, in milliseconds since 1970.
  public let updatedAt: Int64

  public init(
    event: EventID, kind: EventRecord.Kind, hop: Int, function: String, state: State, attempts: Int, crashes: Int,
    nextAttemptAt: Int64, lastError: String, updatedAt: Int64
  ) {
    self.event = event
    self.kind = kind
    self.hop = hop
    self.function = function
    self.state = state
    self.attempts = attempts
    self.crashes = crashes
    self.nextAttemptAt = nextAttemptAt
    self.lastError = lastError
    self.updatedAt = updatedAt
  }
}
