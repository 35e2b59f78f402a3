internal import RewardModel
internal import StorageCore
internal import TreeModel

/// One function for each table: a record becomes a row. The order of the values is that of the columns in ``Query``.
extension SQLiteWriteSession {
  func write(_ leaf: BatchOverlay.PendingLeaf, at path: PathBytes, of ns: NamespaceID) throws(StorageError) {
    guard let scalar = leaf.scalar else {
      return try connection.statement(.removeNode).bind(ns.rawValue).bind(path.bytes).run()
    }
    try connection.statement(.putNode).bind(ns.rawValue).bind(path.bytes).bind(leaf.revision.rawValue)
      .bind(scalar.storedBytes).run()
  }

  func write(_ commit: CommitRecord) throws(StorageError) {
    try connection.statement(.putCommit).bind(commit.namespace.rawValue).bind(commit.revision.rawValue).bind(commit.epoch)
      .bind(commit.time).bind(commit.actor.description).bind(commit.requestID).bind(commit.cause?.storedBytes)
      .bind(commit.suppressesTriggers ? 1 : 0).bind(commit.digest).bind(commit.hash)
      .bind(commit.changes.map { LeafChangeList.encode($0, without: commit.erased) }).run()
  }

  func write(_ event: EventRecord) throws(StorageError) {
    try connection.statement(.putEvent).bind(event.namespace.rawValue).bind(event.id.revision.rawValue)
      .bind(event.id.path.bytes).bind(event.id.epoch).bind(event.kind.rawValue).bind(Int64(event.hop)).run()
  }

  /// Binds what executions and deliveries are keyed by.
  private func keyed(_ query: Query, _ ns: NamespaceID, _ event: EventID, _ function: String) throws(StorageError)
    -> SQLiteStatement
  {
    try connection.statement(query).bind(ns.rawValue).bind(event.epoch).bind(event.revision.rawValue).bind(event.path.bytes)
      .bind(function)
  }

  func write(_ execution: ExecutionRecord, of ns: NamespaceID) throws(StorageError) {
    try keyed(.putExecution, ns, execution.event, execution.function).bind(execution.outcome.rawValue)
      .bind(execution.reason).bind(Int64(execution.attempt)).bind(execution.startedAt).bind(execution.finishedAt)
      .bind(execution.effect?.rawValue).bind(execution.settings).run()
  }

  func write(_ delivery: DeliveryRecord?, at key: FunctionKey, of ns: NamespaceID) throws(StorageError) {
    guard let delivery else { return try keyed(.removeDelivery, ns, key.event, key.function.text).run() }
    try keyed(.putDelivery, ns, delivery.event, delivery.function).bind(delivery.kind.rawValue).bind(Int64(delivery.hop))
      .bind(delivery.state.rawValue).bind(Int64(delivery.attempts)).bind(Int64(delivery.crashes))
      .bind(delivery.nextAttemptAt).bind(delivery.lastError).bind(delivery.updatedAt).run()
  }

  func write(_ entry: LedgerEntry, of ns: NamespaceID) throws(StorageError) {
    let transfer = entry.transfer
    try connection.statement(.putEntry).bind(ns.rawValue).bind(entry.sequence).bind(entry.revision).bind(entry.time)
      .bind(transfer.debit.name).bind(transfer.credit.name).bind(transfer.amount).bind(transfer.unit).bind(transfer.code)
      .bind(transfer.key.text).bind(transfer.event).bind(transfer.function).bind(transfer.subject).bind(transfer.reverses)
      .bind(transfer.reason).bind(transfer.expiresAt).bind(transfer.allowsNegative ? 1 : 0).bind(entry.debitAfter)
      .bind(entry.creditAfter).bind(entry.previousHash).bind(entry.hash).run()
  }

  /// The entries' accounts, in the order of the table's key.
  func writePostings(of overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    var postings: [(account: ExactText, sequence: Int64)] = []
    for entry in overlay.entries {
      let debit = ExactText(entry.transfer.debit.name)
      let credit = ExactText(entry.transfer.credit.name)
      postings.append((debit, entry.sequence))
      if credit != debit { postings.append((credit, entry.sequence)) }
    }
    postings.sort { $0.account == $1.account ? $0.sequence < $1.sequence : $0.account < $1.account }
    for posting in postings {
      try connection.statement(.putPosting).bind(ns.rawValue).bind(posting.account.text).bind(posting.sequence).run()
    }
  }

  func write(_ record: OutboxRecord, of ns: NamespaceID) throws(StorageError) {
    try connection.statement(.putOutbox).bind(ns.rawValue).bind(record.key).bind(record.outlet).bind(record.payload)
      .bind(record.cause?.storedBytes).bind(record.state.rawValue).bind(Int64(record.attempts)).bind(record.nextAttemptAt)
      .bind(record.lastError).bind(record.createdAt).run()
  }

  func write(_ record: IdempotencyRecord, of ns: NamespaceID) throws(StorageError) {
    try connection.statement(.putIdempotency).bind(ns.rawValue).bind(record.key).bind(record.requestDigest)
      .bind(record.revision.rawValue).bind(record.answer).bind(record.expiresAt).run()
  }

  func write(_ record: FunctionRecord) throws(StorageError) {
    let since = record.since.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.key.rawValue):\($0.value.rawValue)" }.joined(separator: ",")
    try connection.statement(.putFunction).bind(record.name).bind(record.pattern).bind(record.kinds).bind(since)
      .bind(record.isPaused ? 1 : 0).bind(record.pauseReason).bind(record.updatedAt).run()
  }
}
