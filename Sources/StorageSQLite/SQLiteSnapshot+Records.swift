internal import RewardModel
internal import StorageCore

extension SQLiteSnapshot {
  func execution(in namespace: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord? {
    try db.execution(namespace, of: event, by: function)
  }

  func executions(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> [ExecutionRecord] {
    try db.executions(namespace, of: event)
  }

  func delivery(in namespace: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord? {
    try db.delivery(namespace, of: event, to: function)
  }

  func deliveries(in namespace: NamespaceID, of event: EventID) throws(StorageError) -> [DeliveryRecord] {
    try db.deliveries(namespace, of: event)
  }

  func deliveries(in namespace: NamespaceID, state: DeliveryRecord.State, after last: DeliveryRecord?, limit: Int)
    throws(StorageError) -> [DeliveryRecord]
  {
    try db.deliveries(namespace, state: state, after: last, limit: limit)
  }

  func functions() throws(StorageError) -> [FunctionRecord] {
    try db.functions()
  }

  func entry(in namespace: NamespaceID, key: BusinessKey) throws(StorageError) -> LedgerEntry? {
    try db.entry(namespace, key: key.text)
  }

  func entry(in namespace: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry? {
    try db.entry(namespace, sequence: sequence)
  }

  func reversal(in namespace: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry? {
    try db.reversal(namespace, of: sequence)
  }

  func entries(in namespace: NamespaceID, after sequence: Int64, limit: Int) throws(StorageError) -> [LedgerEntry] {
    try db.entries(namespace, after: sequence, limit: limit)
  }

  func entries(in namespace: NamespaceID, account: LedgerAccount, before sequence: Int64?, limit: Int) throws(StorageError)
    -> [LedgerEntry]
  {
    try db.entries(namespace, account: account.name, before: sequence, limit: limit)
  }

  func balance(in namespace: NamespaceID, of account: LedgerAccount, unit: String) throws(StorageError) -> Int64? {
    try db.balance(namespace, of: account.name, unit: unit)
  }

  func balances(in namespace: NamespaceID) throws(StorageError) -> [AccountBalance] {
    try db.balances(namespace)
  }

  func outbox(in namespace: NamespaceID, key: String) throws(StorageError) -> OutboxRecord? {
    try db.outbox(namespace, key: key)
  }

  func outbox(in namespace: NamespaceID, state: OutboxRecord.State, after key: String?, limit: Int) throws(StorageError)
    -> [OutboxRecord]
  {
    try db.outbox(namespace, state: state, after: key, limit: limit)
  }

  func idempotency(in namespace: NamespaceID, key: String) throws(StorageError) -> IdempotencyRecord? {
    try db.idempotency(namespace, key: key)
  }

  func audits(limit: Int) throws(StorageError) -> [AuditRecord] {
    try db.audits(limit: limit)
  }

  func audits(before place: Int64?, limit: Int) throws(StorageError) -> [(place: Int64, record: AuditRecord)] {
    try db.audits(before: place, limit: limit)
  }
}
