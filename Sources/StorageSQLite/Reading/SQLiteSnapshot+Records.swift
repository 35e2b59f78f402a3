internal import RewardModel
internal import StorageCore
internal import TreeModel

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

  func entries(in namespace: NamespaceID, before sequence: Int64?, limit: Int) throws(StorageError) -> [LedgerEntry] {
    try db.entries(namespace, before: sequence, limit: limit)
  }

  func entries(in namespace: NamespaceID, account: LedgerAccount, after sequence: Int64, limit: Int) throws(StorageError)
    -> [LedgerEntry]
  {
    try db.entries(namespace, account: account.name, after: sequence, limit: limit)
  }

  func ledgerAccounts(
    in namespace: NamespaceID, prefix: String, after account: LedgerAccount?, limit: Int, countMax: Int
  ) throws(StorageError) -> [LedgerAccountRow] {
    try db.ledgerAccounts(namespace, prefix: prefix, after: account?.name, limit: limit, countMax: countMax)
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

  func audits(before position: Int64?, limit: Int) throws(StorageError) -> [(position: Int64, record: AuditRecord)] {
    try db.audits(before: position, limit: limit)
  }
}

extension SQLiteSnapshot {
  func accountRow(in namespace: NamespaceID, key: AccountRow.Key) throws(StorageError) -> AccountRow? {
    try db.accountRow(namespace, key: key)
  }

  func accounts(in namespace: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [AccountRecord] {
    try db.accounts(namespace, after: uid, limit: limit)
  }

  func anonymousAccounts(in namespace: NamespaceID, unusedSince time: Int64, after last: AccountRecord?, limit: Int)
    throws(StorageError) -> [AccountRecord]
  {
    try db.anonymousAccounts(namespace, unusedSince: time, after: last, limit: limit)
  }

  func refreshTokens(in namespace: NamespaceID, after hash: [UInt8]?, limit: Int) throws(StorageError)
    -> [RefreshTokenRecord]
  {
    try db.refreshTokens(namespace, after: hash, limit: limit)
  }

  func refreshTokens(in namespace: NamespaceID, of uid: String) throws(StorageError) -> [RefreshTokenRecord] {
    try db.refreshTokens(namespace, of: uid)
  }

  func identifiers(in namespace: NamespaceID, kind: String, after value: String?, limit: Int) throws(StorageError)
    -> [(identifier: AccountIdentifier, uid: String)]
  {
    try db.identifiers(namespace, kind: kind, after: value, limit: limit)
  }

  func accountCount(in namespace: NamespaceID) throws(StorageError) -> Int64 {
    try db.accountCount(namespace)
  }

  func identifierCount(in namespace: NamespaceID, kind: String) throws(StorageError) -> Int64 {
    try db.identifierCount(namespace, kind: kind)
  }

  func accountRevocations(in namespace: NamespaceID) throws(StorageError) -> [AccountRevocation] {
    try db.accountRevocations(namespace)
  }
}

extension SQLiteSnapshot {
  func rules(of namespace: NamespaceID) throws(StorageError) -> RulesRecord? {
    try db.rules(namespace)
  }

  func indexes(in namespace: NamespaceID) throws(StorageError) -> [IndexRecord] {
    try db.indexes(namespace)
  }

  func index(in namespace: NamespaceID, id: IndexID) throws(StorageError) -> IndexRecord? {
    try db.index(namespace, id: id)
  }

  func indexEntries(
    in namespace: NamespaceID, of index: IndexID, below parent: PathBytes, from lower: IndexEntry, to upper: IndexEntry,
    isDescending: Bool, limit: Int
  ) throws(StorageError) -> [IndexEntry] {
    try db.indexEntries(namespace, of: index, below: parent, from: lower, to: upper, isDescending: isDescending, limit: limit)
  }
}

extension SQLiteSnapshot {
  func record(in namespace: NamespaceID, kind: String, key: String) throws(StorageError) -> String? {
    try db.record(namespace, kind: kind, key: key)
  }

  func records(in namespace: NamespaceID, kind: String, after key: String?, isDescending: Bool, limit: Int)
    throws(StorageError) -> [KeyedRecord]
  {
    let (sign, order) = isDescending ? ("<", "DESC") : (">", "ASC")
    let position = key == nil ? "" : " AND key \(sign) ?"
    let statement = try SQLiteStatement(
      "SELECT key, value FROM room_record WHERE ns = ? AND kind = ?\(position) ORDER BY key \(order)", on: db, isKept: false)
    statement.bind(namespace.rawValue).bind(kind)
    if let key { statement.bind(key) }
    return try statement.all(limit: limit) { row throws(StorageError) in
      KeyedRecord(kind: kind, key: try row.text(0), value: try row.text(1))
    }
  }

  func linkCounts(in namespace: NamespaceID, of link: String, since day: Int64) throws(StorageError) -> [LinkCount] {
    try SQLiteStatement(
      """
      SELECT day, platform, event, count FROM link_count WHERE ns = ? AND link = ? AND day >= ?
      ORDER BY day, platform, event
      """, on: db, isKept: false
    ).bind(namespace.rawValue).bind(link).bind(day).all { row throws(StorageError) in
      LinkCount(link: link, day: row.int(0), platform: try row.text(1), event: try row.text(2), count: row.int(3))
    }
  }
}

extension SQLiteConnection {
  func record(_ ns: NamespaceID, kind: String, key: String) throws(StorageError) -> String? {
    try statement(.keyedRecord).bind(ns.rawValue).bind(kind).bind(key).first { row throws(StorageError) in try row.text(0) }
  }
}

extension SQLiteSnapshot {
  func serviceAccounts() throws(StorageError) -> [ServiceAccountRecord] {
    let db = try db
    return try SQLiteStatement(
      """
      SELECT name, key_id, email, role, public_key, token_uri, created_at, created_by, revoked_at FROM service_account
      ORDER BY created_at, key_id
      """, on: db, isKept: false
    ).all { row throws(StorageError) in
      guard let creator = Actor(try row.text(7)) else { throw db.damaged("a service account's creator") }
      return ServiceAccountRecord(
        name: try row.text(0), keyID: try row.text(1), email: try row.text(2), role: try row.text(3),
        publicKey: try row.text(4), tokenURI: try row.text(5), createdAt: row.int(6), createdBy: creator,
        revokedAt: row.optionalInt(8))
    }
  }
}

extension SQLiteWriteSession {
  func write(_ account: ServiceAccountRecord) throws(StorageError) {
    try SQLiteStatement(
      SQL.insert(
        "service_account", "key_id, name, email, role, public_key, token_uri, created_at, created_by, revoked_at",
        replacing: true), on: connection, isKept: false
    ).bind(account.keyID).bind(account.name).bind(account.email).bind(account.role).bind(account.publicKey)
      .bind(account.tokenURI).bind(account.createdAt).bind(account.createdBy.description).bind(account.revokedAt).run()
  }
}
