/// An effect outside the store, born in the transaction of its cause and delivered afterwards, at least once.
public struct OutboxRecord: Sendable, Hashable {
  /// Whether it is still to be delivered, was, or was given up.
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
  /// The run that asked for it; nil if none did.
  public let cause: Cause?
  /// Whether it is still to be delivered.
  public let state: State
  /// Deliveries that failed so far.
  public let attempts: Int
  /// When to try again, in milliseconds since 1970; meaningful while waiting.
  public let nextAttemptAt: Int64
  /// Why the last attempt failed; nil if none has.
  public let lastError: String?
  /// When it was asked for, in milliseconds since 1970.
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

/// The answer to a request that carried a key, kept so that a repetition gets the same one.
public struct IdempotencyRecord: Sendable, Hashable {
  /// What the client called the request; unique in its namespace.
  public let key: String
  /// SHA-256 of the request: another request under the same key is a conflict.
  public let requestDigest: [UInt8]
  /// The commit of the request; zero if it changed nothing.
  public let revision: Revision
  /// What the surface answered, in a form of its own.
  public let answer: [UInt8]
  /// Milliseconds since 1970.
  public let expiresAt: Int64

  public init(key: String, requestDigest: [UInt8], revision: Revision, answer: [UInt8], expiresAt: Int64) {
    self.key = key
    self.requestDigest = requestDigest
    self.revision = revision
    self.answer = answer
    self.expiresAt = expiresAt
  }
}
