internal import StorageCore

extension SQLiteSnapshot {
  func record(in namespace: NamespaceID, kind: String, key: String) throws(StorageError) -> String? {
    try db.record(namespace, kind: kind, key: key)
  }

  func records(in namespace: NamespaceID, kind: String, after key: String?, isDescending: Bool, limit: Int)
    throws(StorageError) -> [RoomRecord]
  {
    let (sign, order) = isDescending ? ("<", "DESC") : (">", "ASC")
    let position = key == nil ? "" : " AND key \(sign) ?"
    let statement = try SQLiteStatement(
      "SELECT key, value FROM room_record WHERE ns = ? AND kind = ?\(position) ORDER BY key \(order)", on: db, isKept: false)
    statement.bind(namespace.rawValue).bind(kind)
    if let key { statement.bind(key) }
    return try statement.all(limit: limit) { row throws(StorageError) in
      RoomRecord(kind: kind, key: try row.text(0), value: try row.text(1))
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
    try statement(.roomRecord).bind(ns.rawValue).bind(kind).bind(key).first { row throws(StorageError) in try row.text(0) }
  }
}
