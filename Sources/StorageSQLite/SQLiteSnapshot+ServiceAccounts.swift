internal import StorageCore

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
      Query.insert(
        "service_account", "key_id, name, email, role, public_key, token_uri, created_at, created_by, revoked_at",
        replacing: true), on: connection, isKept: false
    ).bind(account.keyID).bind(account.name).bind(account.email).bind(account.role).bind(account.publicKey)
      .bind(account.tokenURI).bind(account.createdAt).bind(account.createdBy.description).bind(account.revokedAt).run()
  }
}
