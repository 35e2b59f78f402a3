internal import CSQLite
internal import StorageCore
internal import TreeModel

/// A prepared statement. Values are bound in order; columns are read by number.
///
/// The connection outlives it: the connection keeps its statements, and one that is not kept is a local of a function that
/// holds the connection.
final class SQLiteStatement {
  private let handle: OpaquePointer
  unowned let connection: SQLiteConnection
  private var bound: Int32 = 0
  private var bindCode = SQLITE_OK
  /// Where bound texts and blobs are copied to, one behind the other; SQLite reads them here until the next binding.
  private let buffer: UnsafeMutableRawBufferPointer
  private var bufferUsed = 0
  /// Bytes that SQLite copied into memory of its own.
  private var copiedBytes = 0

  /// A row's usual texts and blobs. What does not fit SQLite copies into memory of its own.
  private static let bufferBytes = 1024
  /// More than this is not kept until the next binding, which may never come.
  private static let copiedBytesMax = 64 << 10

  init(_ sql: String, on connection: SQLiteConnection, isKept: Bool) throws(StorageError) {
    var handle: OpaquePointer?
    let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sqlite3_prepare_v3(connection.handle, sql, -1, flags, &handle, nil)
    guard code == SQLITE_OK, let handle else { throw connection.error(code, during: "preparing \(sql.prefix(60))") }
    self.handle = handle
    self.connection = connection
    buffer = .allocate(byteCount: isKept ? Self.bufferBytes : 0, alignment: 1)
  }

  deinit {
    sqlite3_finalize(handle)
    buffer.deallocate()
  }

  // MARK: Binding

  /// SQLite copies what is bound with this: the array may go before the statement runs.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Copies what is to be bound, and says how SQLite is to take it: what is in ``buffer`` stays where it is for as long as the
  /// statement may look at it, until it was reset and is bound again.
  private func keep(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawPointer?, sqlite3_destructor_type?) {
    guard bytes.count <= buffer.count - bufferUsed else {
      copiedBytes += bytes.count
      return (bytes.baseAddress, Self.transient)
    }
    let place = UnsafeMutableRawBufferPointer(rebasing: buffer[bufferUsed..<bufferUsed + bytes.count])
    place.copyMemory(from: bytes)
    bufferUsed += bytes.count
    return (UnsafeRawPointer(place.baseAddress), nil)
  }

  @discardableResult
  func bind(_ value: Int64) -> SQLiteStatement {
    note(sqlite3_bind_int64(handle, advance(), value))
  }

  @discardableResult
  func bind(_ value: Int64?) -> SQLiteStatement {
    if let value { return bind(value) }
    return note(sqlite3_bind_null(handle, advance()))
  }

  @discardableResult
  func bind(_ bytes: [UInt8]) -> SQLiteStatement {
    // An empty array may have no address, which SQLite would take for NULL.
    guard !bytes.isEmpty else { return note(sqlite3_bind_zeroblob(handle, advance(), 0)) }
    let index = advance()
    return note(
      bytes.withUnsafeBytes { bytes in
        let (kept, destructor) = keep(bytes)
        return sqlite3_bind_blob64(handle, index, kept, UInt64(bytes.count), destructor)
      })
  }

  @discardableResult
  func bind(_ bytes: [UInt8]?) -> SQLiteStatement {
    if let bytes { return bind(bytes) }
    return note(sqlite3_bind_null(handle, advance()))
  }

  @discardableResult
  func bind(_ text: String) -> SQLiteStatement {
    var text = text
    let index = advance()
    // A text may hold NUL, so its length is given.
    return note(
      text.withUTF8 { utf8 in
        // As above: an empty text may have no address.
        guard !utf8.isEmpty else { return sqlite3_bind_text(handle, index, "", 0, Self.transient) }
        let (kept, destructor) = keep(UnsafeRawBufferPointer(utf8))
        let text = kept?.assumingMemoryBound(to: CChar.self)
        return sqlite3_bind_text64(handle, index, text, UInt64(utf8.count), destructor, UInt8(SQLITE_UTF8))
      })
  }

  @discardableResult
  func bind(_ text: String?) -> SQLiteStatement {
    if let text { return bind(text) }
    return note(sqlite3_bind_null(handle, advance()))
  }

  private func advance() -> Int32 {
    bound += 1
    return bound
  }

  private func note(_ code: Int32) -> SQLiteStatement {
    if bindCode == SQLITE_OK { bindCode = code }
    return self
  }

  // MARK: Running

  /// Runs to the next row; false at the end.
  func step() throws(StorageError) -> Bool {
    guard bindCode == SQLITE_OK else { throw fault(bindCode) }
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw fault(code)
    }
  }

  /// Ends the run; what was bound is bound again by the next one.
  func reset() {
    sqlite3_reset(handle)
    if copiedBytes > Self.copiedBytesMax { sqlite3_clear_bindings(handle) }
    copiedBytes = 0
    bound = 0
    bufferUsed = 0
    bindCode = SQLITE_OK
  }

  func run() throws(StorageError) {
    defer { reset() }
    while try step() {}
  }

  func first<Value>(_ decode: (SQLiteStatement) throws(StorageError) -> Value) throws(StorageError) -> Value? {
    defer { reset() }
    return try step() ? try decode(self) : nil
  }

  /// The rows, until there are `limit` of them or one was enough.
  func all<Value>(
    limit: Int = .max, until isEnough: () -> Bool = { false }, _ decode: (SQLiteStatement) throws(StorageError) -> Value
  ) throws(StorageError) -> [Value] {
    defer { reset() }
    var values: [Value] = []
    while values.count < limit, !isEnough(), try step() { values.append(try decode(self)) }
    return values
  }

  private func fault(_ code: Int32) -> StorageError {
    connection.error(code, during: "running \(String(cString: sqlite3_sql(handle)).prefix(60))")
  }

  // MARK: Columns

  func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// SQLite's number for the kind of a value.
  func type(of column: Int32) -> Int32 { sqlite3_column_type(handle, column) }

  func isInteger(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_INTEGER
  }

  func int(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  func optionalInt(_ column: Int32) -> Int64? {
    isNull(column) ? nil : int(column)
  }

  /// The bytes of a column, in SQLite's memory: valid until the next step or reset.
  func raw(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }

  func bytes(_ column: Int32) -> [UInt8] {
    Array(raw(column))
  }

  func text(_ column: Int32) throws(StorageError) -> String {
    guard let text = String(utf8: raw(column)) else {
      throw StorageError(.damaged, "\(connection.path) is damaged: a text is not UTF-8. Restore the last backup.")
    }
    return text
  }

  func optionalText(_ column: Int32) throws(StorageError) -> String? {
    isNull(column) ? nil : try text(column)
  }
}

extension StorageError {
  /// What SQLite's result code means for the operator of the server, and what to do.
  ///
  /// - `isCopy`: whether the file is a copy in the making: the store goes on without it.
  init(sqlite code: Int32, message: String, path: String, during action: String, isCopy: Bool = false) {
    let next = isCopy ? "try again" : "start the server again"
    let what = "\(action): \(message) (SQLite \(code))"
    switch code & 0xFF {
    case SQLITE_FULL:
      self.init(.full, "The disk that holds \(path) is full (\(what)). Make room, then \(next).")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      self.init(
        .damaged, "\(path) is damaged or no database (\(what)). Keep the file, and restore the last backup into a new folder.")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      self.init(.locked, "\(path) is locked by another process (\(what)). Stop it, then try again.")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
      self.init(.failed, "\(path) cannot be opened or written (\(what)). Check that the folder exists and its permissions.")
    case SQLITE_IOERR:
      self.init(.failed, "Reading or writing \(path) failed (\(what)). Check the disk, then \(next).")
    default:
      self.init(.failed, "SQLite refused \(path) (\(what)).")
    }
  }
}
