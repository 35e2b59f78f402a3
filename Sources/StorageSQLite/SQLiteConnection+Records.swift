internal import StorageCore

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
        key: try row.text(0), requestDigest: row.bytes(1), revision: Revision(row.int(2)), answer: row.bytes(3),
        expiresAt: row.int(4))
    }
  }

  func audits(before place: Int64?, limit: Int) throws(StorageError) -> [(place: Int64, record: AuditRecord)] {
    try statement(.auditsBefore).bind(place ?? .max).all(limit: limit) { row throws(StorageError) in
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
    case schemaVersion = "schema_version"
    case epoch
    case nextNamespace = "namespace_next"
    case currencies
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
