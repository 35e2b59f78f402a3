internal import CSQLite
internal import StorageCore
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A SQLite VFS over another one that opens the write-ahead log as a ``LogFile``, and everything else as the one below does.
///
/// For the writer's connection alone. Others may append to the log between its transactions (a merge of the history does).
enum LogFileSystem {
  private struct Registered {
    /// The VFS over each VFS, by name.
    var names: [String: String] = [:]
    /// The method table over each method table, by address: the system has one for locked files and one for logs.
    var tables: [UInt: UInt] = [:]
  }

  private static let registered = Mutex(Registered())

  /// Where a file object of ours keeps its ``LogFile``: behind the object of the VFS below.
  fileprivate static let objectOffset: Int = {
    guard let system = sqlite3_vfs_find(nil) else { preconditionFailure("SQLite has no VFS for this system.") }
    return (Int(system.pointee.szOsFile) + 15) & ~15
  }()

  /// The name of the VFS over the one of this name (nil: the system's); registered once and for good.
  static func name(over base: String?) -> String {
    SQLiteLibrary.prepare()
    return registered.withLock { registered in
      if let name = registered.names[base ?? ""] { return name }
      guard let below = sqlite3_vfs_find(base) else { preconditionFailure("SQLite has no VFS \(base ?? "").") }
      precondition(Int(below.pointee.szOsFile) <= objectOffset, "The VFS below has larger file objects than the system's.")
      let name = "doubloon-log" + (base.map { "-" + $0 } ?? "")
      // SQLite keeps the pointers for the life of the process.
      let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
      vfs.initialize(to: below.pointee)
      vfs.pointee.pNext = nil
      vfs.pointee.szOsFile = Int32(objectOffset + MemoryLayout<UnsafeRawPointer>.size)
      vfs.pointee.zName = name.withCString { UnsafePointer(strdup($0)) }
      // The functions of the VFS below find their own state by the VFS they are given.
      vfs.pointee.pAppData = UnsafeMutableRawPointer(below)
      vfs.pointee.xOpen = openFile
      vfs.pointee.xDelete = { sqlite3_vfs.below($0)?.pointee.xDelete(sqlite3_vfs.below($0), $1, $2) ?? SQLITE_ERROR }
      vfs.pointee.xAccess = { sqlite3_vfs.below($0)?.pointee.xAccess(sqlite3_vfs.below($0), $1, $2, $3) ?? SQLITE_ERROR }
      vfs.pointee.xFullPathname = {
        sqlite3_vfs.below($0)?.pointee.xFullPathname(sqlite3_vfs.below($0), $1, $2, $3) ?? SQLITE_ERROR
      }
      precondition(sqlite3_vfs_register(vfs, 0) == SQLITE_OK, "SQLite refuses a VFS.")
      registered.names[base ?? ""] = name
      return name
    }
  }

  /// The log of a connection that was opened through this VFS; nil until the connection has looked at the log.
  static func log(of connection: OpaquePointer) -> LogFile? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
      file.pointee.pMethods != nil
    else { return nil }
    let isOurs = registered.withLock { $0.tables.values.contains(UInt(bitPattern: file.pointee.pMethods)) }
    return isOurs ? object(file) : nil
  }

  fileprivate static func object(_ file: UnsafeMutablePointer<sqlite3_file>?) -> LogFile {
    guard let file else { preconditionFailure("SQLite called a method of no file.") }
    let place = UnsafeMutableRawPointer(file) + objectOffset
    return Unmanaged<LogFile>.fromOpaque(place.load(as: UnsafeRawPointer.self)).takeUnretainedValue()
  }

  /// Makes the file, which the VFS below has opened, one of ours.
  fileprivate static func adopt(_ file: UnsafeMutablePointer<sqlite3_file>) {
    guard let base = file.pointee.pMethods else { return }
    let log = LogFile(file: file, base: base)
    (UnsafeMutableRawPointer(file) + objectOffset).storeBytes(
      of: UnsafeRawPointer(Unmanaged.passRetained(log).toOpaque()), as: UnsafeRawPointer.self)
    file.pointee.pMethods = UnsafePointer(bitPattern: table(over: base))
  }

  private static func table(over base: UnsafePointer<sqlite3_io_methods>) -> UInt {
    registered.withLock { registered in
      let address = UInt(bitPattern: base)
      if let table = registered.tables[address] { return table }
      // One for each table below, kept for the life of the process.
      let ours = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      ours.initialize(to: base.pointee)
      ours.pointee.xWrite = { file, bytes, count, offset in
        guard let bytes else { return SQLITE_ERROR }
        return LogFileSystem.object(file).write(bytes, Int(count), at: offset)
      }
      ours.pointee.xRead = { LogFileSystem.object($0).read($1, $2, at: $3) }
      ours.pointee.xTruncate = { LogFileSystem.object($0).truncate(to: $1) }
      ours.pointee.xFileSize = { LogFileSystem.object($0).size($1) }
      ours.pointee.xSync = { LogFileSystem.object($0).endTransaction($1) }
      ours.pointee.xClose = { file in
        let log = LogFileSystem.object(file)
        defer { Unmanaged.passUnretained(log).release() }
        return log.close()
      }
      // Reading mapped memory would pass what is gathered by.
      ours.pointee.iVersion = min(ours.pointee.iVersion, 2)
      registered.tables[address] = UInt(bitPattern: ours)
      return UInt(bitPattern: ours)
    }
  }
}

/// Opens a file by the VFS below; a log becomes one of ours.
private func openFile(
  _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, name: UnsafePointer<CChar>?, file: UnsafeMutablePointer<sqlite3_file>?,
  flags: Int32, outFlags: UnsafeMutablePointer<Int32>?
) -> Int32 {
  guard let below = sqlite3_vfs.below(vfs), let file else { return SQLITE_ERROR }
  let code = below.pointee.xOpen(below, name, file, flags, outFlags)
  if code == SQLITE_OK, flags & SQLITE_OPEN_WAL != 0 { LogFileSystem.adopt(file) }
  return code
}

extension sqlite3_vfs {
  /// The VFS that one of ours stands on.
  fileprivate static func below(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> UnsafeMutablePointer<sqlite3_vfs>? {
    vfs?.pointee.pAppData?.assumingMemoryBound(to: sqlite3_vfs.self)
  }
}
