internal import RewardModel
internal import StorageCore
internal import TreeModel

extension SQLiteConnection {
  func namespaces() throws(StorageError) -> [NamespaceRecord] {
    try statement(.namespaces).all { row throws(StorageError) in
      NamespaceRecord(id: NamespaceID(rawValue: row.int(0)), name: try row.text(1), createdAt: row.int(2))
    }
  }

  func namespace(named name: String) throws(StorageError) -> NamespaceID? {
    try statement(.namespaceNamed).bind(name).first { row throws(StorageError) in NamespaceID(rawValue: row.int(0)) }
  }

  func settledRevision(_ ns: NamespaceID) throws(StorageError) -> Revision {
    let revision = try statement(.settledRevision).bind(ns.rawValue).first { row throws(StorageError) in row.int(0) }
    return Revision(revision ?? 0)
  }

  func outbox(_ ns: NamespaceID, key: String) throws(StorageError) -> OutboxRecord? {
    try statement(.outbox).bind(ns.rawValue).bind(key).first(readOutbox)
  }

  func outbox(_ ns: NamespaceID, state: OutboxRecord.State, after key: String?, limit: Int) throws(StorageError)
    -> [OutboxRecord]
  {
    // An empty key stands before every other; a record's key is never empty.
    try statement(.outboxInState).bind(ns.rawValue).bind(state.rawValue).bind(key ?? "").all(limit: limit, readOutbox)
  }

  private func readOutbox(_ row: SQLiteStatement) throws(StorageError) -> OutboxRecord {
    OutboxRecord(
      key: try row.text(0), outlet: try row.text(1), payload: try row.text(2),
      cause: row.isNull(3) ? nil : try Cause(stored: row.raw(3)), state: try value(row.text(4), "an outbox row's state"),
      attempts: Int(row.int(5)), nextAttemptAt: row.int(6), lastError: try row.optionalText(7), createdAt: row.int(8))
  }

  func idempotency(_ ns: NamespaceID, key: String) throws(StorageError) -> IdempotencyRecord? {
    try statement(.idempotency).bind(ns.rawValue).bind(key).first { row throws(StorageError) in
      IdempotencyRecord(
        key: try row.text(0), requestDigest: row.bytes(1), revision: Revision(row.int(2)),
        answer: try row.value(3) { bytes throws(StorageError) in Array(bytes) }, expiresAt: row.int(4))
    }
  }

  func audits(before position: Int64?, limit: Int) throws(StorageError) -> [(position: Int64, record: AuditRecord)] {
    try statement(.auditsBefore).bind(position ?? .max).all(limit: limit) { row throws(StorageError) in
      (row.int(5), try readAudit(row))
    }
  }

  private func readAudit(_ row: SQLiteStatement) throws(StorageError) -> AuditRecord {
    guard let actor = Actor(try row.text(1)) else { throw damaged("an audit record's actor") }
    return AuditRecord(
      time: row.int(0), actor: actor, action: try row.text(2), detail: try row.text(3), result: try row.text(4))
  }

  func lastAudit() throws(StorageError) -> Int64 {
    try statement(.lastAudit).first { row throws(StorageError) in row.int(0) } ?? 0
  }

  func lastAuditHash() throws(StorageError) -> [UInt8] {
    try statement(.lastAuditHash).first { row throws(StorageError) in row.bytes(0) } ?? AuditRecord.genesisHash
  }

  // MARK: What is true of the whole store

  enum Meta: String {
    /// How often rows of the history were erased.
    case historyErasures = "history_erasures"
    case schemaVersion = "schema"
    /// What versions before 0.1 wrote: theirs began at 1 too, so it has a name of its own.
    case unreleasedSchemaVersion = "schema_version"
    case epoch
    case nextNamespace = "namespace_next"
    /// The last number that a long value was given: none is given twice, for an old row of the history may still name it.
    case lastLongValue = "long_value_last"
    case currencies
    /// What the store is known by, in its copies too.
    case identity = "store"
  }

  func meta(_ name: Meta) throws(StorageError) -> Int64? {
    guard let text = try metaText(name) else { return nil }
    guard let value = Int64(text) else { throw damaged("the store's \(name.rawValue)") }
    return value
  }

  func metaText(_ name: Meta) throws(StorageError) -> String? {
    try statement(.meta).bind(name.rawValue).first { row throws(StorageError) in try row.text(0) }
  }

  func setMeta(_ name: Meta, to value: Int64) throws(StorageError) { try setMeta(name, to: String(value)) }

  func setMeta(_ name: Meta, to value: String) throws(StorageError) {
    try statement(.setMeta).bind(name.rawValue).bind(value).run()
  }
}

extension SQLiteConnection {
  /// The row of a key.
  func accountRow(_ ns: NamespaceID, key: AccountRow.Key) throws(StorageError) -> AccountRow? {
    switch key {
    case .account(let uid):
      try looked("SELECT \(Self.accountColumns) FROM account WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid.text)
        .first { row throws(StorageError) in .account(try readAccount(row)) }
    case .identifier(let kind, let value):
      try looked("SELECT uid FROM account_identifier WHERE ns = ? AND kind = ? AND value = ?").bind(ns.rawValue)
        .bind(kind.text).bind(value.text).first { row throws(StorageError) in
          .identifier(AccountIdentifier(storedKind: kind.text, value: value.text), uid: try row.text(0))
        }
    case .refreshToken(let hash):
      try looked("SELECT \(Self.tokenColumns) FROM refresh_token WHERE ns = ? AND hash = ?")
        .bind(ns.rawValue).bind(hash).first { row throws(StorageError) in .refreshToken(try readToken(row)) }
    case .code(let hash):
      try looked("SELECT kind, email, new_email, uid, expires_at FROM account_code WHERE ns = ? AND hash = ?")
        .bind(ns.rawValue).bind(hash).first { row throws(StorageError) in
          .code(
            AccountCodeRecord(
              hash: hash, kind: try value(row.text(0), "a code's kind"), email: try row.text(1),
              newEmail: try row.optionalText(2), uid: try row.optionalText(3), expiresAt: row.int(4)))
        }
    case .revocation(let uid):
      try looked("SELECT \(Self.revocationColumns) FROM account_revocation WHERE ns = ? AND uid = ?").bind(ns.rawValue)
        .bind(uid.text).first { row throws(StorageError) in .revocation(try readRevocation(row)) }
    case .settings:
      try looked("SELECT settings FROM account_settings WHERE ns = ?").bind(ns.rawValue).first {
        row throws(StorageError) in
        .settings(try json(row.text(0), what: "the settings of accounts"))
      }
    }
  }

  func accounts(_ ns: NamespaceID, after uid: String?, limit: Int) throws(StorageError) -> [AccountRecord] {
    // A uid is never empty.
    try looked("SELECT \(Self.accountColumns) FROM account WHERE ns = ? AND uid > ? ORDER BY uid").bind(ns.rawValue)
      .bind(uid ?? "").all(limit: limit, readAccount)
  }

  func anonymousAccounts(_ ns: NamespaceID, unusedSince time: Int64, after last: AccountRecord?, limit: Int)
    throws(StorageError) -> [AccountRecord]
  {
    try looked(
      """
      SELECT \(Self.accountColumns) FROM account WHERE ns = ? AND is_anonymous = 1 AND used_at < ?
      AND (used_at, uid) > (?, ?) ORDER BY used_at, uid
      """
    ).bind(ns.rawValue).bind(time).bind(last?.usedAt ?? .min).bind(last?.uid ?? "").all(limit: limit, readAccount)
  }

  func refreshTokens(_ ns: NamespaceID, after hash: [UInt8]?, limit: Int) throws(StorageError) -> [RefreshTokenRecord] {
    try looked("SELECT \(Self.tokenColumns) FROM refresh_token WHERE ns = ? AND hash > ? ORDER BY hash").bind(ns.rawValue)
      .bind(hash ?? []).all(limit: limit, readToken)
  }

  func refreshTokens(_ ns: NamespaceID, of uid: String) throws(StorageError) -> [RefreshTokenRecord] {
    try looked("SELECT \(Self.tokenColumns) FROM refresh_token WHERE ns = ? AND uid = ? ORDER BY issued_at")
      .bind(ns.rawValue).bind(uid).all(readToken)
  }

  func identifiers(_ ns: NamespaceID, kind: String, after value: String?, limit: Int) throws(StorageError)
    -> [(identifier: AccountIdentifier, uid: String)]
  {
    // A value is never empty.
    try looked("SELECT value, uid FROM account_identifier WHERE ns = ? AND kind = ? AND value > ? ORDER BY value")
      .bind(ns.rawValue).bind(kind).bind(value ?? "").all(limit: limit) { row throws(StorageError) in
        (AccountIdentifier(storedKind: kind, value: try row.text(0)), try row.text(1))
      }
  }

  func accountCount(_ ns: NamespaceID) throws(StorageError) -> Int64 {
    try looked("SELECT count(*) FROM account WHERE ns = ?").bind(ns.rawValue).first { row throws(StorageError) in
      row.int(0)
    } ?? 0
  }

  func identifierCount(_ ns: NamespaceID, kind: String) throws(StorageError) -> Int64 {
    try looked("SELECT count(*) FROM account_identifier WHERE ns = ? AND kind = ?").bind(ns.rawValue).bind(kind)
      .first { row throws(StorageError) in row.int(0) } ?? 0
  }

  func accountRevocations(_ ns: NamespaceID) throws(StorageError) -> [AccountRevocation] {
    try looked("SELECT \(Self.revocationColumns) FROM account_revocation WHERE ns = ?").bind(ns.rawValue)
      .all(readRevocation)
  }

  private static let accountColumns = "uid, password, record"
  private static let tokenColumns = "hash, uid, provider, claims, auth_time, issued_at, second_factor"
  private static let revocationColumns = "uid, reason, not_before, effective_at"

  private func looked(_ sql: String) throws(StorageError) -> SQLiteStatement {
    try SQLiteStatement(sql, on: self, isKept: false)
  }

  private func readAccount(_ row: SQLiteStatement) throws(StorageError) -> AccountRecord {
    let stored = try json(row.text(2), what: "an account")
    guard let record = AccountRecord(uid: try row.text(0), password: try row.optionalText(1), storedJSON: stored) else {
      throw damaged("an account")
    }
    return record
  }

  private func readToken(_ row: SQLiteStatement) throws(StorageError) -> RefreshTokenRecord {
    RefreshTokenRecord(
      hash: row.bytes(0), uid: try row.text(1), provider: try row.text(2), claims: try row.optionalText(3),
      secondFactor: try row.optionalText(6), authTime: row.int(4), issuedAt: row.int(5))
  }

  private func readRevocation(_ row: SQLiteStatement) throws(StorageError) -> AccountRevocation {
    AccountRevocation(
      uid: try row.text(0), reason: try value(row.text(1), "a revocation's reason"), notBefore: row.int(2),
      effectiveAt: row.int(3))
  }

  private func json(_ text: String, what: String) throws(StorageError) -> JSON {
    do throws(JSONError) {
      return try JSONParser.parse(text)
    } catch {
      throw damaged(what)
    }
  }
}

extension SQLiteConnection {
  func entry(_ ns: NamespaceID, sequence: Int64) throws(StorageError) -> LedgerEntry? {
    try statement(.entry).bind(ns.rawValue).bind(sequence).first(Self.entry)
  }

  func entry(_ ns: NamespaceID, key: String) throws(StorageError) -> LedgerEntry? {
    try statement(.entryByKey).bind(ns.rawValue).bind(key).first(Self.entry)
  }

  func reversal(_ ns: NamespaceID, of sequence: Int64) throws(StorageError) -> LedgerEntry? {
    try statement(.entryByReversal).bind(ns.rawValue).bind(sequence).first(Self.entry)
  }

  func entries(_ ns: NamespaceID, after sequence: Int64, limit: Int) throws(StorageError) -> [LedgerEntry] {
    try statement(.entries).bind(ns.rawValue).bind(sequence).all(limit: limit, Self.entry)
  }

  func entries(_ ns: NamespaceID, account: String, before sequence: Int64?, limit: Int) throws(StorageError) -> [LedgerEntry] {
    let sequences = try statement(.entriesOfAccount).bind(ns.rawValue).bind(account).bind(sequence ?? Int64.max)
      .all(limit: limit) { row throws(StorageError) in row.int(0) }
    return try entries(ns, of: sequences)
  }

  func entries(_ ns: NamespaceID, account: String, after sequence: Int64, limit: Int) throws(StorageError) -> [LedgerEntry] {
    let sequences = try looked(
      "SELECT sequence FROM ledger_posting WHERE ns = ? AND account = ? AND sequence > ? ORDER BY sequence"
    ).bind(ns.rawValue).bind(account).bind(sequence).all(limit: limit) { row throws(StorageError) in row.int(0) }
    return try entries(ns, of: sequences)
  }

  func entries(_ ns: NamespaceID, before sequence: Int64?, limit: Int) throws(StorageError) -> [LedgerEntry] {
    try looked("SELECT \(SQL.entryColumns) FROM ledger_entry WHERE ns = ? AND sequence < ? ORDER BY sequence DESC")
      .bind(ns.rawValue).bind(sequence ?? Int64.max).all(limit: limit, Self.entry)
  }

  private func entries(_ ns: NamespaceID, of sequences: [Int64]) throws(StorageError) -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    for sequence in sequences {
      guard let entry = try entry(ns, sequence: sequence) else { throw damaged("ledger entry \(sequence)") }
      entries.append(entry)
    }
    return entries
  }

  func ledgerAccounts(_ ns: NamespaceID, prefix: String, after account: String?, limit: Int, countMax: Int)
    throws(StorageError) -> [LedgerAccountRow]
  {
    let first = try looked("SELECT account FROM ledger_posting WHERE ns = ? AND account >= ? ORDER BY account")
    let next = try looked("SELECT account FROM ledger_posting WHERE ns = ? AND account > ? ORDER BY account")
    let postings = try looked("SELECT sequence FROM ledger_posting WHERE ns = ? AND account = ? ORDER BY sequence")
    let kept = try looked("SELECT unit, balance FROM ledger_balance WHERE ns = ? AND account = ? ORDER BY unit")
    var rows: [LedgerAccountRow] = []
    var last = account.flatMap { $0.utf8.lexicographicallyPrecedes(prefix.utf8) ? nil : $0 }
    while rows.count < limit {
      let name = try (last == nil ? first : next).bind(ns.rawValue).bind(last ?? prefix)
        .first { row throws(StorageError) in try row.text(0) }
      guard let name, name.utf8.starts(with: prefix.utf8) else { break }
      let count = try postings.bind(ns.rawValue).bind(name).all(limit: countMax) { _ throws(StorageError) in () }.count
      let found = LedgerAccount(name)
      let balances = try kept.bind(ns.rawValue).bind(name).all { row throws(StorageError) in
        AccountBalance(account: found, unit: try row.text(0), balance: row.int(1))
      }
      rows.append(LedgerAccountRow(account: found, entryCount: count, balances: balances))
      last = name
    }
    return rows
  }

  func balance(_ ns: NamespaceID, of account: String, unit: String) throws(StorageError) -> Int64? {
    try statement(.balance).bind(ns.rawValue).bind(account).bind(unit).first { row throws(StorageError) in row.int(0) }
  }

  func balances(_ ns: NamespaceID) throws(StorageError) -> [AccountBalance] {
    try statement(.balances).bind(ns.rawValue).all { row throws(StorageError) in
      AccountBalance(account: LedgerAccount(try row.text(0)), unit: try row.text(1), balance: row.int(2))
    }
  }

  private static func entry(_ row: SQLiteStatement) throws(StorageError) -> LedgerEntry {
    let transfer = LedgerTransfer(
      debit: LedgerAccount(try row.text(3)), credit: LedgerAccount(try row.text(4)), amount: row.int(5),
      unit: try row.text(6), code: try row.text(7), key: BusinessKey(try row.text(8)), event: try row.optionalText(9),
      function: try row.optionalText(10), subject: try row.optionalText(11), reverses: row.optionalInt(12),
      reason: try row.optionalText(13), allowsNegative: row.int(15) != 0, expiresAt: row.optionalInt(14))
    return LedgerEntry(
      sequence: row.int(0), revision: row.int(1), time: row.int(2), transfer: transfer, debitAfter: row.int(16),
      creditAfter: row.int(17), previousHash: row.bytes(18), hash: row.bytes(19))
  }
}

extension SQLiteConnection {
  private func keyed(_ query: FunctionQuery, in ns: NamespaceID, event: EventID) throws(StorageError) -> SQLiteStatement {
    try statement(query).bind(ns.rawValue).bind(event.epoch).bind(event.revision.rawValue).bind(event.path.bytes)
  }

  func execution(_ ns: NamespaceID, of event: EventID, by function: String) throws(StorageError) -> ExecutionRecord? {
    try keyed(.execution, in: ns, event: event).bind(function).first(readExecution)
  }

  func executions(_ ns: NamespaceID, of event: EventID) throws(StorageError) -> [ExecutionRecord] {
    try keyed(.executions, in: ns, event: event).all(readExecution)
  }

  func delivery(_ ns: NamespaceID, of event: EventID, to function: String) throws(StorageError) -> DeliveryRecord? {
    try keyed(.delivery, in: ns, event: event).bind(function).first(readDelivery)
  }

  func deliveries(_ ns: NamespaceID, of event: EventID) throws(StorageError) -> [DeliveryRecord] {
    try keyed(.deliveries, in: ns, event: event).all(readDelivery)
  }

  func deliveries(_ ns: NamespaceID, state: DeliveryRecord.State, after last: DeliveryRecord?, limit: Int)
    throws(StorageError) -> [DeliveryRecord]
  {
    // Without a last one: before every name, since a function has one.
    try statement(.deliveriesInState).bind(ns.rawValue).bind(state.rawValue).bind(last?.function ?? "")
      .bind(last?.event.epoch ?? 0).bind(last?.event.revision.rawValue ?? 0).bind(last?.event.path.bytes ?? [])
      .all(limit: limit, readDelivery)
  }

  func functions() throws(StorageError) -> [FunctionRecord] {
    try statement(.functions).all { row throws(StorageError) in
      FunctionRecord(
        name: try row.text(0), pattern: try row.text(1), kinds: try row.text(2), since: try since(row.text(3)),
        isPaused: row.int(4) != 0, pauseReason: try row.optionalText(5), updatedAt: row.int(6))
    }
  }

  private func since(_ text: String) throws(StorageError) -> [NamespaceID: Revision] {
    var since: [NamespaceID: Revision] = [:]
    for item in text.split(separator: ",") {
      let numbers = item.split(separator: ":").compactMap { Int64($0) }
      guard numbers.count == 2 else { throw damaged("a function's first revisions") }
      since[NamespaceID(rawValue: numbers[0])] = Revision(numbers[1])
    }
    return since
  }

  private func event(_ row: SQLiteStatement) -> EventID {
    EventID(epoch: row.int(0), revision: Revision(row.int(1)), path: PathBytes(bytes: row.bytes(2)))
  }

  func readExecution(_ row: SQLiteStatement) throws(StorageError) -> ExecutionRecord {
    ExecutionRecord(
      event: event(row), function: try row.text(3), outcome: try value(row.text(4), "an execution's outcome"),
      reason: try row.optionalText(5), attempt: Int(row.int(6)), startedAt: row.int(7), finishedAt: row.int(8),
      effect: row.optionalInt(9).map(Revision.init(rawValue:)), settings: try row.optionalText(10))
  }

  private func readDelivery(_ row: SQLiteStatement) throws(StorageError) -> DeliveryRecord {
    DeliveryRecord(
      event: event(row), kind: try value(row.text(4), "an event's kind"), hop: Int(row.int(5)), function: try row.text(3),
      state: try value(row.text(6), "a delivery's state"), attempts: Int(row.int(7)), crashes: Int(row.int(8)),
      nextAttemptAt: row.int(9), lastError: try row.text(10), updatedAt: row.int(11))
  }
}
