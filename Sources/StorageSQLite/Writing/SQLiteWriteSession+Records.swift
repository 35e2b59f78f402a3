internal import RewardModel
internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  /// The overlay of a namespace, and the connection unless the batch hides what is stored.
  private func sources(_ namespace: NamespaceID) throws(StorageError) -> (overlay: BatchOverlay?, stored: SQLiteConnection?) {
    let overlay = batch.overlays[namespace]
    let db = try db
    return (overlay, overlay?.rows.hidesStored == true ? nil : db)
  }

  // MARK: The log

  func append(_ commit: CommitRecord) {
    batch.stage(commit.namespace) { $0.commits.append(commit, step: $1) }
  }

  func commit(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> CommitRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.commits.rows.last(where: { $0.revision == revision }) { return pending }
    return try stored?.commit(namespace, at: revision)
  }

  func append(_ event: EventRecord) {
    batch.stage(event.namespace) { $0.events.append(event, step: $1) }
  }

  // MARK: Functions

  func put(_ execution: ExecutionRecord, in namespace: NamespaceID) {
    let key = FunctionKey(execution.event, execution.function)
    batch.stage(namespace) { $0.executions.put(execution, at: key, step: $1) }
  }

  func execution(in namespace: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.executions[FunctionKey(event, function)] { return pending }
    return try stored?.execution(namespace, of: event, by: function)
  }

  func put(_ delivery: DeliveryRecord, in namespace: NamespaceID) {
    let key = FunctionKey(delivery.event, delivery.function)
    batch.stage(namespace) { $0.deliveries.put(delivery, at: key, step: $1) }
  }

  func removeDelivery(of event: EventID, to function: String, in namespace: NamespaceID) {
    let key = FunctionKey(event, function)
    batch.stage(namespace) { $0.deliveries.put(nil, at: key, step: $1) }
  }

  func delivery(in namespace: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.deliveries[FunctionKey(event, function)] { return pending }
    return try stored?.delivery(namespace, of: event, to: function)
  }

  func put(_ record: FunctionRecord) {
    let step = batch.beginStep()
    batch.functions.put(record, at: ExactText(record.name), step: step)
  }

  // MARK: The ledger

  func append(_ entry: LedgerEntry, in namespace: NamespaceID) {
    batch.stage(namespace) { $0.append(entry, step: $1) }
  }

  func entry(in namespace: NamespaceID, key: BusinessKey) throws(StorageError) -> LedgerEntry? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.entry(key: key.text) { return pending }
    return try stored?.entry(namespace, key: key.text)
  }

  func entry(in namespace: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.entries.rows.last(where: { $0.sequence == sequence }) { return pending }
    return try stored?.entry(namespace, sequence: sequence)
  }

  func reversal(in namespace: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.reversal(of: sequence) { return pending }
    return try stored?.reversal(namespace, of: sequence)
  }

  func setBalance(_ balance: Int64, of account: LedgerAccount, unit: String, in namespace: NamespaceID) {
    let key = BalanceKey(account, unit)
    batch.stage(namespace) { $0.balances.put(balance, at: key, step: $1) }
  }

  func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws(StorageError) -> Int64? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.balances[BalanceKey(account, unit)] { return pending }
    return try stored?.balance(namespace, of: account.name, unit: unit)
  }

  // MARK: The rest

  func put(_ record: OutboxRecord, in namespace: NamespaceID) {
    let key = ExactText(record.key)
    batch.stage(namespace) { $0.outbox.put(record, at: key, step: $1) }
  }

  func outbox(in namespace: NamespaceID, key: String) throws(StorageError) -> OutboxRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.outbox[ExactText(key)] { return pending }
    return try stored?.outbox(namespace, key: key)
  }

  func put(_ record: IdempotencyRecord, in namespace: NamespaceID) {
    let key = ExactText(record.key)
    batch.stage(namespace) { $0.idempotency.put(record, at: key, step: $1) }
  }

  func idempotency(in namespace: NamespaceID, key: String) throws(StorageError) -> IdempotencyRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.rows.idempotency[ExactText(key)] { return pending }
    guard let record = try stored?.idempotency(namespace, key: key) else { return nil }
    if let expiry = batch.idempotencyExpiry, record.expiresAt <= expiry { return nil }
    return record
  }

  func removeIdempotency(expiredAt time: Int64) {
    batch.recordWhole()
    batch.idempotencyExpiry = max(time, batch.idempotencyExpiry ?? time)
    for overlay in batch.overlays.values {
      overlay.rows.idempotency.removeAll { $0.expiresAt <= time }
    }
  }

  func append(_ record: AuditRecord) {
    let step = batch.beginStep()
    batch.audits.append(record, step: step)
  }
}

/// Keyed records, and the counts of links. Those are rare beside the tree's, so their statement is prepared when it is needed.
extension SQLiteWriteSession {
  func record(in namespace: NamespaceID, kind: String, key: String) throws(StorageError) -> String? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.rows.keyedRecords[RecordKey(kind, key)] { return pending }
    return overlay?.rows.hidesStored == true ? nil : try db.record(namespace, kind: kind, key: key)
  }

  func put(_ change: KeyedRecordChange, in namespace: NamespaceID) {
    let key = RecordKey(change.kind, change.key)
    batch.stage(namespace) { $0.keyedRecords.put(change.value, at: key, step: $1) }
  }

  func writeRecords(of overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    for (key, value) in overlay.rows.keyedRecords.sorted() {
      if let value {
        try connection.statement(.putKeyedRecord).bind(ns.rawValue).bind(key.kind.text).bind(key.key.text).bind(value).run()
      } else {
        try connection.statement(.removeKeyedRecord).bind(ns.rawValue).bind(key.kind.text).bind(key.key.text).run()
      }
    }
  }

  func write(_ counts: [LinkCount], of ns: NamespaceID) throws(StorageError) {
    let add = try SQLiteStatement(
      """
      INSERT INTO link_count (ns, link, day, platform, event, count) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (ns, link, day, platform, event) DO UPDATE SET count = count + excluded.count
      """, on: connection, isKept: false)
    for count in counts {
      try add.bind(ns.rawValue).bind(count.link).bind(count.day).bind(count.platform).bind(count.event).bind(count.count).run()
    }
  }
}

/// One function for each table: a record becomes a row. The order of the values is that of the columns in ``Query``.
extension SQLiteWriteSession {
  func write(_ leaf: StagedLeaves.PendingLeaf, at path: PathBytes, of ns: NamespaceID) throws(StorageError) {
    guard let scalar = leaf.scalar else {
      return try connection.statement(.removeNode).bind(ns.rawValue).bind(path.bytes).run()
    }
    try connection.statement(.putNode).bind(ns.rawValue).bind(path.bytes).bind(leaf.revision.rawValue)
      .bind(scalar.storedBytes, upTo: LongValue.leafBytesMax).run()
  }

  func write(_ commit: CommitRecord) throws(StorageError) {
    let row = try connection.statement(.putCommit).bind(commit.namespace.rawValue).bind(commit.revision.rawValue)
      .bind(commit.epoch).bind(commit.time).bind(commit.actor.description).bind(commit.requestID)
      .bind(commit.cause?.storedBytes).bind(commit.suppressesTriggers ? 1 : 0).bind(commit.digest).bind(commit.hash)
    guard let changes = commit.changes else { return try row.bind(nil as [UInt8]?).run() }
    try row.bind(LeafChangeList.encode(changes, without: commit.erased), upTo: LongValue.recordBytesMax).run()
  }

  func write(_ event: EventRecord) throws(StorageError) {
    try connection.statement(.putEvent).bind(event.namespace.rawValue).bind(event.id.revision.rawValue)
      .bind(event.id.path.bytes).bind(event.id.epoch).bind(event.kind.rawValue).bind(Int64(event.hop)).run()
  }

  /// Binds what executions and deliveries are keyed by.
  private func keyed(_ query: FunctionQuery, in ns: NamespaceID, event: EventID, function: String) throws(StorageError)
    -> SQLiteStatement
  {
    try connection.statement(query).bind(ns.rawValue).bind(event.epoch).bind(event.revision.rawValue).bind(event.path.bytes)
      .bind(function)
  }

  func write(_ execution: ExecutionRecord, of ns: NamespaceID) throws(StorageError) {
    try keyed(.putExecution, in: ns, event: execution.event, function: execution.function).bind(execution.outcome.rawValue)
      .bind(execution.reason).bind(Int64(execution.attempt)).bind(execution.startedAt).bind(execution.finishedAt)
      .bind(execution.effect?.rawValue).bind(execution.settings).run()
  }

  func write(_ delivery: DeliveryRecord?, at key: FunctionKey, of ns: NamespaceID) throws(StorageError) {
    guard let delivery else { return try keyed(.removeDelivery, in: ns, event: key.event, function: key.function.text).run() }
    try keyed(.putDelivery, in: ns, event: delivery.event, function: delivery.function).bind(delivery.kind.rawValue).bind(
      Int64(delivery.hop)
    )
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
    for entry in overlay.rows.entries.rows {
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
      .bind(record.revision.rawValue).bind(record.answer, upTo: LongValue.recordBytesMax).bind(record.expiresAt).run()
  }

  func write(_ record: FunctionRecord) throws(StorageError) {
    let since = record.since.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.key.rawValue):\($0.value.rawValue)" }.joined(separator: ",")
    try connection.statement(.putFunction).bind(record.name).bind(record.pattern).bind(record.kinds).bind(since)
      .bind(record.isPaused ? 1 : 0).bind(record.pauseReason).bind(record.updatedAt).run()
  }
}
