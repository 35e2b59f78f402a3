/// An event that a function could not finish at once: it waits for a retry, is paused, or is a dead letter.
///
/// A pair of event and function has an execution record, a delivery record, or neither (not yet looked at); never both.
public struct DeliveryRecord: Sendable, Hashable {
  public enum State: String, Sendable, Hashable, CaseIterable {
    case waiting
    case paused
    case dead
  }

  public let event: EventID
  public let kind: EventRecord.Kind
  public let hop: Int
  public let function: String
  public let state: State
  /// Attempts that ended in a failure so far.
  public let attempts: Int
  /// How many of them ended with the death of the process.
  public let crashes: Int
  /// When to try again, in milliseconds since 1970; meaningful while waiting.
  public let nextAttemptAt: Int64
  public let lastError: String
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
