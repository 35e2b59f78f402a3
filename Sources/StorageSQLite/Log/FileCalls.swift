#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// The few calls of the file system that SQLite does not make for us.
enum FileCalls {
  /// What SQLite puts beside a file, and the ``DurableMark``, by the endings of the names; the first is the file's own.
  static let storeEndings = ["", "-wal", "-shm", "-journal", "-synced"]
  /// As many links as Linux follows.
  private static let linksMax = 40

  static func exists(_ path: String) -> Bool {
    access(path, F_OK) == 0
  }

  /// How large a file is; nil where none is.
  static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Cuts a file off, and makes that durable.
  static func truncate(_ path: String, to size: Int64) throws(StorageError) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failed("opening", path) }
    defer { _ = close(descriptor) }
    guard ftruncate(descriptor, off_t(size)) == 0, fsync(descriptor) == 0 else { throw failed("cutting", path) }
  }

  /// The path, or the first with a number behind it, at which nothing is.
  static func freeName(_ path: String) -> String {
    guard exists(path) else { return path }
    var number = 2
    while exists("\(path)\(number)") { number += 1 }
    return "\(path)\(number)"
  }

  static func isWritableFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && access(path, W_OK) == 0
  }

  /// Whether something is there that is no regular file, at the end of links too.
  static func isSpecial(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  /// Whether two paths lead to the same file or folder, whatever they are called.
  static func isSame(_ path: String, _ other: String) -> Bool {
    var status = stat()
    var otherStatus = stat()
    guard stat(path, &status) == 0, stat(other, &otherStatus) == 0 else { return false }
    return status.st_dev == otherStatus.st_dev && status.st_ino == otherStatus.st_ino
  }

  /// Where the symbolic links at a path lead in the end, whether or not something is there; what is no link is itself.
  static func target(of path: String) throws(StorageError) -> String {
    var target = path
    for _ in 0..<linksMax {
      guard let next = link(at: target) else { return target }
      target = next.hasPrefix("/") ? next : folder(of: target) + "/" + next
    }
    errno = ELOOP
    throw failed("following the links at", path)
  }

  /// What a symbolic link says; nil for what is none.
  private static func link(at path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes {
      readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// Makes an empty file beside another, which it replaces when it is whole. Its owner alone can read it; what a process left
  /// there that was killed goes, and two at a time are refused.
  ///
  /// - Returns: its path, and the descriptor that holds it, to be closed when it has its name.
  static func makePartial(of path: String) throws(StorageError) -> (path: String, lock: Int32) {
    let partial = path + ".partial"
    while true {
      let descriptor = open(partial, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw failed("creating", partial) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        _ = close(descriptor)
        throw StorageError(
          .unsuitable, "Another backup to \(path) is being made. Wait until it is done, or name another file.")
      }
      var held = stat()
      var named = stat()
      // Its earlier owner may have given it its name since it was opened: that is a backup now.
      if fstat(descriptor, &held) == 0, stat(partial, &named) == 0, held.st_ino == named.st_ino {
        _ = fchmod(descriptor, 0o600)
        _ = ftruncate(descriptor, 0)
        for ending in storeEndings.dropFirst() { remove(partial + ending) }
        return (partial, descriptor)
      }
      _ = close(descriptor)
    }
  }

  /// Lets a file go that was held.
  static func release(_ lock: Int32) {
    _ = close(lock)
  }

  /// Whether nothing is there, or a folder that holds nothing.
  static func isVacant(_ path: String) -> Bool {
    guard let folder = opendir(path) else { return !exists(path) }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Itself and its parent.
    return count <= 2
  }

  /// What stands in a folder, but for itself and its parent; nothing of one that cannot be read.
  static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// What is free for this user on the disk of a folder, in bytes; nil if the system does not say.
  static func freeBytes(at path: String) -> Int64? {
    var facts = statvfs()
    guard statvfs(path, &facts) == 0 else { return nil }
    let (bytes, overflows) = Int64(clamping: facts.f_bavail).multipliedReportingOverflow(by: Int64(clamping: facts.f_frsize))
    return overflows ? .max : bytes
  }

  static func makeFolder(_ path: String) throws(StorageError) {
    var partial = path.hasPrefix("/") ? "/" : ""
    for piece in path.split(separator: "/") {
      partial += partial.isEmpty || partial.hasSuffix("/") ? String(piece) : "/" + piece
      if mkdir(partial, 0o700) != 0, errno != EEXIST, errno != EISDIR {
        throw failed("creating the folder", partial)
      }
    }
  }

  static func rename(_ source: String, to target: String) throws(StorageError) {
    #if canImport(Glibc)
      let code = Glibc.rename(source, target)
    #else
      let code = Darwin.rename(source, target)
    #endif
    guard code == 0 else { throw failed("renaming \(source) to", target) }
  }

  /// Makes a file's content durable, or, for a folder, the names in it.
  static func sync(_ path: String) throws(StorageError) {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw failed("opening", path) }
    defer { _ = close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failed("syncing", path) }
  }

  static func copy(_ source: String, to target: String) throws(StorageError) {
    let input = open(source, O_RDONLY)
    guard input >= 0 else { throw failed("opening", source) }
    defer { _ = close(input) }
    let output = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard output >= 0 else { throw failed("creating", target) }
    defer { _ = close(output) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(input, &buffer, buffer.count)
      guard count >= 0 else { throw failed("reading", source) }
      if count == 0 { return }
      var done = 0
      while done < count {
        let written = buffer.withUnsafeBytes { write(output, $0.baseAddress! + done, count - done) }
        guard written > 0 else { throw failed("writing", target) }
        done += written
      }
    }
  }

  static func remove(_ path: String) {
    _ = unlink(path)
  }

  /// Removes a store's file, and what SQLite put beside it.
  static func removeStore(_ path: String) {
    for ending in storeEndings { remove(path + ending) }
  }

  /// Removes a folder that holds no folders.
  static func removeFolder(_ path: String) {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { _ = unlink(path + "/" + name) }
    }
    closedir(folder)
    _ = rmdir(path)
  }

  /// A fresh private folder whose name nobody could guess.
  static func makeTemporaryFolder() throws(StorageError) -> String {
    let variable = getenv("TMPDIR").map { String(cString: $0) }
    // /dev/shm is memory; elsewhere a temporary folder may be on a disk, which is slower and no less right.
    let parent = ["/dev/shm", variable ?? "/tmp", "/tmp"].first(where: isWritableFolder) ?? "/tmp"
    var template = Array("\(parent)/doubloon-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw failed("creating a temporary folder in", parent) }
    return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func failed(_ action: String, _ path: String) -> StorageError {
    let code = errno
    let reason = String(cString: strerror(code))
    if code == ENOSPC || code == EDQUOT {
      return StorageError(.full, "\(action) \(path) failed: \(reason). Make room on the disk, then try again.")
    }
    return StorageError(.failed, "\(action) \(path) failed: \(reason). Check the path and its permissions.")
  }
}
