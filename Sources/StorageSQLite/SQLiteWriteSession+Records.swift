internal import RewardModel
internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  /// The overlay of a namespace, and the connection unless the batch hides what is stored.
  private func sources(_ namespace: NamespaceID) throws(StorageError) -> (overlay: BatchOverlay?, stored: SQLiteConnection?) {
    let overlay = batch.overlays[namespace]
    let db = try db
    return (overlay, overlay?.hidesStored == true ? nil : db)
  }

  // MARK: The log

  func append(_ commit: CommitRecord) {
    batch.overlay(commit.namespace).commits.append(commit)
    batch.record(.commit(commit.namespace))
  }

  func commit(in namespace: NamespaceID, at revision: Revision) throws(StorageError) -> CommitRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.commits.last(where: { $0.revision == revision }) { return pending }
    return try stored?.commit(namespace, at: revision)
  }

  func append(_ event: EventRecord) {
    batch.overlay(event.namespace).events.append(event)
    batch.record(.event(event.namespace))
  }

  // MARK: Functions

  func put(_ execution: ExecutionRecord, in namespace: NamespaceID) {
    let key = FunctionKey(execution.event, execution.function)
    let before = batch.overlay(namespace).executions.updateValue(execution, forKey: key)
    batch.record(.execution(namespace, key, before))
  }

  func execution(in namespace: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.executions[FunctionKey(event, function)] { return pending }
    return try stored?.execution(namespace, of: event, by: function)
  }

  func put(_ delivery: DeliveryRecord, in namespace: NamespaceID) {
    let key = FunctionKey(delivery.event, delivery.function)
    let before = batch.overlay(namespace).deliveries.updateValue(delivery, forKey: key)
    batch.record(.delivery(namespace, key, before))
  }

  func removeDelivery(of event: EventID, to function: String, in namespace: NamespaceID) {
    let key = FunctionKey(event, function)
    let before = batch.overlay(namespace).deliveries.updateValue(nil, forKey: key)
    batch.record(.delivery(namespace, key, before))
  }

  func delivery(in namespace: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.deliveries[FunctionKey(event, function)] { return pending }
    return try stored?.delivery(namespace, of: event, to: function)
  }

  func put(_ record: FunctionRecord) {
    let name = ExactText(record.name)
    batch.record(.function(name, batch.functions.updateValue(record, forKey: name)))
  }

  // MARK: The ledger

  func append(_ entry: LedgerEntry, in namespace: NamespaceID) {
    batch.overlay(namespace).append(entry)
    batch.record(.entry(namespace))
  }

  func entry(in namespace: NamespaceID, key: BusinessKey) throws(StorageError) -> LedgerEntry? {
    let (overlay, stored) = try sources(namespace)
    if let overlay, let place = overlay.entryByKey[ExactText(key.text)] { return overlay.entries[place] }
    return try stored?.entry(namespace, key: key.text)
  }

  func entry(in namespace: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.entries.last(where: { $0.sequence == sequence }) { return pending }
    return try stored?.entry(namespace, sequence: sequence)
  }

  func reversal(in namespace: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry? {
    let (overlay, stored) = try sources(namespace)
    if let overlay, let place = overlay.entryByReversal[sequence] { return overlay.entries[place] }
    return try stored?.reversal(namespace, of: sequence)
  }

  func setBalance(_ balance: Int64, of account: LedgerAccount, unit: String, in namespace: NamespaceID) {
    let key = BalanceKey(account, unit)
    let before = batch.overlay(namespace).balances.updateValue(balance, forKey: key)
    batch.record(.balance(namespace, key, before))
  }

  func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws(StorageError) -> Int64? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.balances[BalanceKey(account, unit)] { return pending }
    return try stored?.balance(namespace, of: account.name, unit: unit)
  }

  // MARK: The rest

  func put(_ record: OutboxRecord, in namespace: NamespaceID) {
    let key = ExactText(record.key)
    let before = batch.overlay(namespace).outbox.updateValue(record, forKey: key)
    batch.record(.outbox(namespace, key, before))
  }

  func outbox(in namespace: NamespaceID, key: String) throws(StorageError) -> OutboxRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.outbox[ExactText(key)] { return pending }
    return try stored?.outbox(namespace, key: key)
  }

  func put(_ record: IdempotencyRecord, in namespace: NamespaceID) {
    let key = ExactText(record.key)
    let before = batch.overlay(namespace).idempotency.updateValue(record, forKey: key)
    batch.record(.idempotency(namespace, key, before))
  }

  func idempotency(in namespace: NamespaceID, key: String) throws(StorageError) -> IdempotencyRecord? {
    let (overlay, stored) = try sources(namespace)
    if let pending = overlay?.idempotency[ExactText(key)] { return pending }
    guard let record = try stored?.idempotency(namespace, key: key) else { return nil }
    if let expiry = batch.idempotencyExpiry, record.expiresAt <= expiry { return nil }
    return record
  }

  func removeIdempotency(expiredAt time: Int64) {
    batch.recordWhole()
    batch.idempotencyExpiry = max(time, batch.idempotencyExpiry ?? time)
    for overlay in batch.overlays.values {
      overlay.idempotency = overlay.idempotency.filter { $0.value.expiresAt > time }
    }
  }

  func append(_ record: AuditRecord) {
    batch.audits.append(record)
    batch.record(.audit)
  }
}
