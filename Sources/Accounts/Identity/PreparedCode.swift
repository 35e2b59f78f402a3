import StorageCore

/// A code that is about to be sent: what is stored of it, and what leaves.
struct PreparedCode: Sendable {
  /// The secret itself.
  let code: String
  let link: String
  let record: AccountCodeRecord
  /// The letter for the outbox; none where no mail is sent.
  let outbox: [OutboxRecord]
}
