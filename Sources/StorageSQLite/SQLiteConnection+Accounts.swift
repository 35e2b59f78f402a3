internal import StorageCore
internal import TreeModel

extension SQLiteConnection {
  /// The row of a key.
  func accountRow(_ ns: NamespaceID, _ key: AccountRow.Key) throws(StorageError) -> AccountRow? {
    switch key {
    case .account(let uid):
      try looked("SELECT \(Self.accountColumns) FROM account WHERE ns = ? AND uid = ?").bind(ns.rawValue).bind(uid.text)
        .first { row throws(StorageError) in .account(try readAccount(row)) }
    case .identifier(let kind, let value):
      try looked("SELECT uid FROM account_identifier WHERE ns = ? AND kind = ? AND value = ?").bind(ns.rawValue)
        .bind(kind.text).bind(value.text).first { row throws(StorageError) in
          .identifier(AccountIdentifier(kind: kind.text, value: value.text), uid: try row.text(0))
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
        .settings(try json(row.text(0), "the settings of accounts"))
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

  func accountCount(_ ns: NamespaceID) throws(StorageError) -> Int64 {
    try looked("SELECT count(*) FROM account WHERE ns = ?").bind(ns.rawValue).first { row throws(StorageError) in
      row.int(0)
    } ?? 0
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
    let stored = try json(row.text(2), "an account")
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

  private func json(_ text: String, _ what: String) throws(StorageError) -> JSON {
    do throws(JSONError) {
      return try JSONParser.parse(text)
    } catch {
      throw damaged(what)
    }
  }
}
