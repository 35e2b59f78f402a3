internal import StorageCore
internal import TreeModel

extension SQLiteWriteSession {
  func accountRow(in namespace: NamespaceID, key: AccountRow.Key) throws(StorageError) -> AccountRow? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.rows.accountRows[key] { return pending }
    let db = try db
    return overlay?.rows.hidesStored == true ? nil : try db.accountRow(namespace, key: key)
  }

  func refreshTokens(in namespace: NamespaceID, of uid: String) throws(StorageError) -> [RefreshTokenRecord] {
    let db = try db
    return batch.overlays[namespace]?.rows.hidesStored == true ? [] : try db.refreshTokens(namespace, of: uid)
  }

  func put(_ row: AccountRow, in namespace: NamespaceID) {
    let key = row.key
    batch.stage(namespace) { $0.accountRows.put(row, at: key, step: $1) }
  }

  func removeAccountRow(_ key: AccountRow.Key, in namespace: NamespaceID) {
    batch.stage(namespace) { $0.accountRows.put(nil, at: key, step: $1) }
  }

  func writeAccountRows(of overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    // Removals first: what goes with an account must not take what the batch put after it.
    for (key, row) in overlay.rows.accountRows.rows where row == nil { try remove(key, of: ns) }
    for case (_, let row?) in overlay.rows.accountRows.rows { try write(row, of: ns) }
  }

  private func statement(_ sql: String) throws(StorageError) -> SQLiteStatement {
    try SQLiteStatement(sql, on: connection, isKept: false)
  }

  private func remove(_ key: AccountRow.Key, of ns: NamespaceID) throws(StorageError) {
    switch key {
    case .account(let uid):
      try statement("DELETE FROM account WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid.text).run()
    case .identifier(let kind, let value):
      try statement("DELETE FROM account_identifier WHERE ns = ? AND kind = ? AND value = ?").bind(ns.rawValue)
        .bind(kind.text).bind(value.text).run()
    case .refreshToken(let hash):
      try statement("DELETE FROM refresh_token WHERE ns = ? AND hash = ?").bind(ns.rawValue).bind(hash).run()
    case .code(let hash):
      try statement("DELETE FROM account_code WHERE ns = ? AND hash = ?").bind(ns.rawValue).bind(hash).run()
    case .revocation(let uid):
      try statement("DELETE FROM account_revocation WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid.text).run()
      try statement(
        """
        DELETE FROM refresh_token WHERE ns = ?1 AND uid = ?2
        AND NOT EXISTS (SELECT 1 FROM account WHERE account.ns = ?1 AND account.uid = ?2)
        """
      ).bind(ns.rawValue).bind(uid.text).run()
    case .settings: try statement("DELETE FROM account_settings WHERE ns = ?").bind(ns.rawValue).run()
    }
  }

  private func write(_ row: AccountRow, of ns: NamespaceID) throws(StorageError) {
    func put(_ table: String, _ columns: String) throws(StorageError) -> SQLiteStatement {
      try statement(SQL.insert(table, columns, replacing: true)).bind(ns.rawValue)
    }
    switch row {
    case .account(let record):
      try put("account", "ns, uid, is_anonymous, used_at, password, record").bind(record.uid)
        .bind(record.isAnonymous ? 1 : 0).bind(record.usedAt).bind(record.password).bind(record.storedJSON.text).run()
    case .identifier(let identifier, let uid):
      try put("account_identifier", "ns, kind, value, uid").bind(identifier.storedKind).bind(identifier.value).bind(uid).run()
    case .refreshToken(let token):
      try put("refresh_token", "ns, hash, uid, provider, claims, auth_time, issued_at, second_factor").bind(token.hash)
        .bind(token.uid).bind(token.provider).bind(token.claims).bind(token.authTime).bind(token.issuedAt)
        .bind(token.secondFactor).run()
    case .code(let code):
      try put("account_code", "ns, hash, kind, email, new_email, uid, expires_at").bind(code.hash).bind(code.kind.rawValue)
        .bind(code.email).bind(code.newEmail).bind(code.uid).bind(code.expiresAt).run()
      // Codes are few, and nobody else takes the old ones away.
      try statement("DELETE FROM account_code WHERE ns = ? AND expires_at < ?").bind(ns.rawValue)
        .bind(code.expiresAt - 8 * 86_400_000).run()
    case .revocation(let revocation):
      try put("account_revocation", "ns, uid, reason, not_before, effective_at").bind(revocation.uid)
        .bind(revocation.reason.rawValue).bind(revocation.notBefore).bind(revocation.effectiveAt).run()
    case .settings(let settings): try put("account_settings", "ns, settings").bind(settings.text).run()
    }
  }
}

extension JSON {
  /// The value as text.
  fileprivate var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
