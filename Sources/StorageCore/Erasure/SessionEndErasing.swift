internal import TreeModel

/// What goes with a player who leaves of the writes that are kept for the ends of connections: those of the player's own connections,
/// with what the records say of the player.
public struct SessionEndErasing: PlayerRecordsErasing {
  /// The kind of the records. A connection has one, `RUN/SESSION`, that says as whom it writes, and one for each place behind that name.
  public static let kind = "session_end"

  public init() {}

  /// The connection that a record belongs to; nil if it is none of this kind.
  public static func session(ofKey key: String) -> String? {
    // By bytes: a place may begin with a combining mark, which Swift would make one character with the slash.
    let slashes = key.utf8.indices.lazy.filter { key.utf8[$0] == UInt8(ascii: "/") }.prefix(2)
    guard let first = slashes.first else { return nil }
    let end = slashes.dropFirst().first ?? key.utf8.endIndex
    return first < end ? String(Substring(key.utf8[..<end])) : nil
  }

  public func erasure(of uid: String, addresses: [String], in namespace: NamespaceID, snapshot: any Snapshot)
    throws(StorageError) -> KeyedRecordErasure
  {
    var erasure = KeyedRecordErasure()
    let actor = Array(Actor.user(uid: uid).description.utf8)
    var erased: String?
    try snapshot.forEachRecord(in: namespace, kind: Self.kind) { record in
      guard let session = Self.session(ofKey: record.key) else { return }
      // A connection's own record stands before those of its places.
      if record.key.utf8.count == session.utf8.count {
        let written = (try? JSONParser.parse(record.value))?["actor"]?.string
        erased = written.map { Array($0.utf8) } == actor ? session : nil
      }
      guard session == erased else { return }
      erasure.records.append(KeyedRecordChange(kind: Self.kind, key: record.key, value: nil))
    }
    return erasure
  }

  public func didErase() {}
}
