internal import CSQLite

/// The changes of one table, as they stand in a patchset of SQLite's session extension.
///
/// The format is described at the beginning of its source, `ext/session/sqlite3session.c`: a header for each table, and behind it each
/// change: what it is, and its values. A removed row is told by its primary key, an updated one by that and what is new of it.
struct Patchset {
  /// What is told of a table before its changes.
  struct Header {
    let bytes: [UInt8]

    /// - `key`: of each column its place in the primary key, from 1 on; 0 for one that is not part of it.
    init(table: String, key: [UInt8]) {
      var patchset = Patchset()
      patchset.bytes.append(UInt8(ascii: "P"))
      patchset.put(count: key.count)
      patchset.bytes += key
      patchset.bytes += Array(table.utf8) + [0]
      bytes = patchset.bytes
    }
  }

  private(set) var bytes: [UInt8] = []

  /// Begins a change; its values follow.
  ///
  /// - `operation`: `SQLITE_INSERT`, `SQLITE_UPDATE` or `SQLITE_DELETE`.
  mutating func begin(_ operation: Int32) {
    bytes.append(UInt8(truncatingIfNeeded: operation))
    // Not made by a trigger: where it is taken in, none would make it.
    bytes.append(0)
  }

  /// Puts a value that an update leaves as it is.
  mutating func putUnchanged() { bytes.append(0) }

  /// Puts a value, or NULL where there is none.
  mutating func put(_ value: OpaquePointer?) {
    let type = value.map { sqlite3_value_type($0) } ?? SQLITE_NULL
    bytes.append(UInt8(truncatingIfNeeded: type))
    switch type {
    case SQLITE_INTEGER: put(UInt64(bitPattern: sqlite3_value_int64(value)))
    case SQLITE_FLOAT: put(sqlite3_value_double(value).bitPattern)
    case SQLITE_TEXT, SQLITE_BLOB:
      let content = UnsafeRawBufferPointer(contentOf: value)
      put(count: content.count)
      bytes.append(contentsOf: content)
    default: break
    }
  }

  private mutating func put(_ number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// SQLite's variable-length integer: seven bits a byte, the highest first.
  private mutating func put(count: Int) {
    var shift = 0
    while count >> shift > 0x7F { shift += 7 }
    while shift > 0 {
      bytes.append(UInt8(truncatingIfNeeded: count >> shift) | 0x80)
      shift -= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: count) & 0x7F)
  }

  /// Takes back what was written behind a place.
  mutating func cut(to count: Int) { bytes.removeSubrange(count...) }

  /// Forgets all changes; the memory of a usual batch is kept for the next.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20) }
}

extension UnsafeRawBufferPointer {
  /// The bytes of a text or a blob of SQLite's, as long as it has them. A number that is asked for its bytes becomes a text.
  init(contentOf value: OpaquePointer?) {
    self.init(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
  }
}
