internal import StorageCore

/// The rooms' records, and the counts of links. They are rare beside the tree's, so their statements are prepared when they
/// are needed.
extension SQLiteWriteSession {
  func record(in namespace: NamespaceID, kind: String, key: String) throws(StorageError) -> String? {
    let overlay = batch.overlays[namespace]
    if let pending = overlay?.records[RecordKey(kind, key)] { return pending }
    return overlay?.hidesStored == true ? nil : try db.record(namespace, kind: kind, key: key)
  }

  func put(_ change: RoomChange, in namespace: NamespaceID) {
    let key = RecordKey(change.kind, change.key)
    let before = batch.overlay(namespace).records.updateValue(change.value, forKey: key)
    batch.record(.record(namespace, key, before))
  }

  func writeRecords(of overlay: BatchOverlay, of ns: NamespaceID) throws(StorageError) {
    let put = try SQLiteStatement(
      Query.insert("room_record", "ns, kind, key, value", replacing: true), on: connection, isKept: false)
    let remove = try SQLiteStatement(
      "DELETE FROM room_record WHERE ns = ? AND kind = ? AND key = ?", on: connection, isKept: false)
    for (key, value) in overlay.records.sorted(by: { $0.key < $1.key }) {
      if let value {
        try put.bind(ns.rawValue).bind(key.kind.text).bind(key.key.text).bind(value).run()
      } else {
        try remove.bind(ns.rawValue).bind(key.kind.text).bind(key.key.text).run()
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
