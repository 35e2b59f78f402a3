import StorageCore

/// A request of the dispatcher's own, and what its end means.
struct Submission: Sendable {
  enum Purpose: Sendable {
    /// The end of a run: its effects and its execution record.
    case effect(Delivery, ExecutionRecord)
    /// A failed attempt: a retry, or a dead letter.
    case attempt(Delivery, DeliveryRecord, FailedAttempt)
    /// Deliveries that wait behind one that waits for a retry.
    case wait([Delivery])
    /// The same, for which memory has no room.
    case shelve([Delivery])
    /// Deliveries of a paused function; `isLate` if the writer had no room for their records at first.
    case park([Delivery], isLate: Bool)
    /// Dead letters for functions that nobody registered.
    case letters([DeliveryRecord], NamespaceID)
    /// Removes the delivery record of an event that was handled before.
    case settle(Delivery)
    /// Something that nobody waits for.
    case note
  }

  var request: CommitRequest
  let purpose: Purpose
}
