import StorageCore

/// A message on its way to its outlet.
struct OutboxItem: Sendable, Hashable {
  let namespace: NamespaceID
  let record: OutboxRecord

  /// What the receiver knows the message by: keys are unique in their namespace only.
  func key(in name: String) -> String { "\(name)/\(record.key)" }

  /// The record after an attempt.
  ///
  /// - Parameters:
  ///   - error: why it failed; nil if it was delivered.
  ///   - remainder: what is kept of the payload if it was delivered.
  func record(after error: String?, retry: RetryAt, remainder: String? = nil, at now: Int64) -> OutboxRecord {
    let state: OutboxRecord.State =
      switch (error, retry) {
      case (nil, _): .delivered
      case (_, .never): .dead
      case (_, .at): .waiting
      }
    var nextAttemptAt: Int64 = 0
    if case .at(let time) = retry, error != nil { nextAttemptAt = time }
    return OutboxRecord(
      key: record.key, outlet: record.outlet, payload: state == .delivered ? remainder ?? record.payload : record.payload,
      cause: record.cause, state: state,
      attempts: record.attempts + 1, nextAttemptAt: nextAttemptAt, lastError: error ?? record.lastError,
      createdAt: record.createdAt)
  }

  /// When a message is tried again.
  enum RetryAt: Sendable {
    case at(Int64)
    case never
  }
}
