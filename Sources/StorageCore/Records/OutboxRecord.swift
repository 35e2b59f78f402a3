/// An effect outside the store, born in the transaction of its cause and delivered afterwards, at least once.
public struct OutboxRecord: Sendable, Hashable {
  public enum State: String, Sendable, Hashable, CaseIterable {
    case waiting
    case delivered
    case dead
  }

  /// Unique in its namespace: what the receiver can recognise a repetition by.
  public let key: String
  /// Which outlet delivers it, such as `webhook`.
  public let outlet: String
  /// What to deliver, as JSON.
  public let payload: String
  public let cause: Cause?
  public let state: State
  public let attempts: Int
  public let nextAttemptAt: Int64
  public let lastError: String?
  public let createdAt: Int64

  public init(
    key: String, outlet: String, payload: String, cause: Cause?, state: State, attempts: Int, nextAttemptAt: Int64,
    lastError: String?, createdAt: Int64
  ) {
    self.key = key
    self.outlet = outlet
    self.payload = payload
    self.cause = cause
    self.state = state
    self.attempts = attempts
    self.nextAttemptAt = nextAttemptAt
    self.lastError = lastError
    self.createdAt = createdAt
  }
}
