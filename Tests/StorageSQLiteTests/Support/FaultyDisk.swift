import CSQLite
import Glibc
import Synchronization

@testable import StorageSQLite

/// A SQLite VFS over the system's that fails a chosen fsync and remembers, for each file, what a power cut would leave.
///
/// Every file's methods are replaced by a table that is the system's but for write, truncate and sync. What is durable of a
/// file is its content at its last successful sync.
final class FaultyDisk: Sendable {
  struct State {
    /// Content at the last sync, by file.
    var durable: [String: [UInt8]] = [:]
    /// Syncs until one fails; nil: none does.
    var syncsLeft: Int?
    /// Files whose next read fails.
    var unreadable: Set<String> = []
    /// The open files, by the address of SQLite's file object: the path, and the address of the system's methods.
    var files: [UInt: (path: String, methods: UInt)] = [:]
    /// Our tables, by the address of the system's: the system has one for locked files and one for logs.
    var tables: [UInt: UInt] = [:]
  }

  static let shared = FaultyDisk()
  let name = "doubloon-faulty"
  fileprivate let state = Mutex(State())

  private init() {
    // As everybody who asks SQLite for something first.
    SQLiteLibrary.prepare()
    guard let system = sqlite3_vfs_find(nil) else { preconditionFailure("no VFS") }
    // Allocated once and never freed: SQLite keeps the pointers.
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: system.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.zName = UnsafePointer(strdup(name))
    vfs.pointee.xOpen = openFile
    precondition(sqlite3_vfs_register(vfs, 0) == SQLITE_OK)
  }

  func reset() {
    state.withLock { state in
      state.durable = [:]
      state.syncsLeft = nil
    }
  }

  /// Lets so many syncs pass; every later one fails.
  func failSync(after count: Int) {
    state.withLock { $0.syncsLeft = count }
  }

  /// Lets the next read of a file fail.
  func failRead(of path: String) {
    state.withLock { _ = $0.unreadable.insert(path) }
  }

  func copyDurable(from data: String, to copy: String) {
    let durable = state.withLock { $0.durable }
    for name in ["doubloon.db", "doubloon.db-wal"] {
      if let bytes = durable[data + "/" + name] { TemporaryFolder.write(bytes, to: copy + "/" + name) }
    }
  }
}

private typealias Methods = UnsafeMutablePointer<sqlite3_io_methods>

private func openFile(
  _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
  _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let system = sqlite3_vfs_find(nil), let file else { return SQLITE_ERROR }
  let code = system.pointee.xOpen(system, name, file, flags, outFlags)
  guard code == SQLITE_OK, let methods = file.pointee.pMethods, let name else { return code }
  let path = String(cString: name)
  let address = UInt(bitPattern: methods)
  let key = UInt(bitPattern: file)
  let table = FaultyDisk.shared.state.withLock { state in
    state.files[key] = (path, address)
    if let table = state.tables[address] { return table }
    // Allocated once for each of the system's tables and never freed.
    let ours = Methods.allocate(capacity: 1)
    ours.initialize(to: UnsafePointer<sqlite3_io_methods>(bitPattern: address)!.pointee)
    ours.pointee.xSync = syncFile
    ours.pointee.xRead = readFile
    ours.pointee.xClose = closeFile
    state.tables[address] = UInt(bitPattern: ours)
    return UInt(bitPattern: ours)
  }
  file.pointee.pMethods = UnsafePointer(bitPattern: table)
  return code
}

private func closeFile(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
  let key = UInt(bitPattern: file)
  let known = FaultyDisk.shared.state.withLock { $0.files.removeValue(forKey: key) }
  guard let known, let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: known.methods) else { return SQLITE_ERROR }
  return methods.pointee.xClose(file)
}

private func readFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
) -> Int32 {
  let key = UInt(bitPattern: file)
  let (methods, fails) = FaultyDisk.shared.state.withLock { state in
    let known = state.files[key]
    return (known?.methods, known.map { state.unreadable.remove($0.path) != nil } ?? true)
  }
  guard let methods, let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: methods), !fails else {
    return SQLITE_IOERR | (1 << 8)  // SQLITE_IOERR_READ, as below
  }
  return methods.pointee.xRead(file, bytes, count, offset)
}

private func syncFile(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
  let key = UInt(bitPattern: file)
  let (known, fails) = FaultyDisk.shared.state.withLock { state in
    let fails = state.syncsLeft == 0
    if let left = state.syncsLeft, left > 0 { state.syncsLeft = left - 1 }
    return (state.files[key], fails)
  }
  guard let known, let methods = UnsafePointer<sqlite3_io_methods>(bitPattern: known.methods), !fails else {
    return SQLITE_IOERR | (4 << 8)  // SQLITE_IOERR_FSYNC, a macro that Swift does not see
  }
  let code = methods.pointee.xSync(file, flags)
  let bytes = TemporaryFolder.bytes(of: known.path)
  FaultyDisk.shared.state.withLock { $0.durable[known.path] = bytes }
  return code
}
