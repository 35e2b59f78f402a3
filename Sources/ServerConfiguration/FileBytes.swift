import Glibc

/// Whole files, read and written in one go.
package enum FileBytes {
  /// Reads a file; `-` is the standard input.
  ///
  /// - Throws: ``FileError`` that names the file.
  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    if path == "-" { return try readAll(STDIN_FILENO, name: "the standard input") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError("\(path) cannot be read: \(lastError).") }
    defer { close(descriptor) }
    return try readAll(descriptor, name: path)
  }

  /// What tells one state of a file from another: time, size and number; empty while it is not there.
  package static func stamp(_ path: String) -> [Int64] {
    var status = stat()
    guard stat(path, &status) == 0 else { return [] }
    return [
      Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(status.st_size),
      Int64(bitPattern: UInt64(status.st_ino)),
    ]
  }

  /// Writes a file: beside it first, then in its place, so that an interruption leaves the old one whole. Links stay, and
  /// what is no regular file (a pipe, a device) is written as it is.
  ///
  /// - `isPrivate`: whether its owner alone may read it.
  /// - Throws: ``FileError`` that names the file.
  package static func write(_ bytes: [UInt8], to path: String, isPrivate: Bool = false) throws(FileError) {
    let mode: mode_t = isPrivate ? 0o600 : 0o644
    guard let target = replaceable(path) else { return try writeThrough(bytes, to: path, mode: mode) }
    let partial = "\(target).\(getpid()).partial"
    // What a process left that died at it; the file of one that is alive has another number.
    unlink(partial)
    let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw FileError("\(path) cannot be written: \(lastError).") }
    var error = writeAll(bytes, to: descriptor)
    if close(descriptor) != 0, error == nil { error = lastError }
    if error == nil, rename(partial, target) != 0 { error = lastError }
    guard let error else { return }
    unlink(partial)
    throw FileError("\(path) cannot be written: \(error).")
  }

  /// The regular file that a path leads to, or the path of a new one; nil for what cannot be replaced by another file.
  private static func replaceable(_ path: String) -> String? {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG, let real = realpath(path, nil) else { return nil }
      defer { free(real) }
      return String(cString: real)
    }
    // A link to nothing: to open it makes the file that it names.
    return lstat(path, &status) == 0 ? nil : path
  }

  private static func writeThrough(_ bytes: [UInt8], to path: String, mode: mode_t) throws(FileError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw FileError("\(path) cannot be written: \(lastError).") }
    var error = writeAll(bytes, to: descriptor, syncs: false)
    if close(descriptor) != 0, error == nil { error = lastError }
    if let error { throw FileError("\(path) cannot be written: \(error).") }
  }

  /// Writes a new file that its owner alone can read, never in place of another.
  ///
  /// - Throws: ``FileError`` that names the file.
  package static func writeSecret(_ bytes: [UInt8], to path: String) throws(FileError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw FileError(
        errno == EEXIST ? "\(path) is there already; it is not written over." : "\(path) cannot be written: \(lastError).")
    }
    var error = writeAll(bytes, to: descriptor)
    if close(descriptor) != 0, error == nil { error = lastError }
    if error == nil { error = syncFolder(of: path) }
    guard let error else { return }
    unlink(path)
    throw FileError("\(path) cannot be written: \(error).")
  }

  /// Makes the name of a new file durable; the reason if that fails.
  private static func syncFolder(of path: String) -> String? {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return lastError }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? nil : lastError
  }

  /// Whether something is at the path.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Whether a folder is at the path.
  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether every user of the machine may read what is at the path.
  static func isOpenToAll(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
  }

  /// The path from the root of the file system, for a server whose working folder is another.
  package static func absolute(_ path: String) -> String {
    guard path.first != "/", let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
  }

  /// What the system said last, in its words.
  package static var lastError: String { String(cString: strerror(errno)) }

  private static func readAll(_ descriptor: Int32, name: String) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError("\(name) cannot be read: \(lastError).") }
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  /// - `syncs`: whether the bytes are to be durable; pipes and devices refuse that.
  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32, syncs: Bool = true) -> String? {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return lastError }
        rest = rest.dropFirst(count)
      }
      return !syncs || fsync(descriptor) == 0 ? nil : lastError
    }
  }
}

/// Why a file cannot be read, written or used.
package struct FileError: Error, Sendable, CustomStringConvertible {
  /// A sentence that names the file, with what to do; where a file has several errors, a line for each.
  package let message: String

  init(_ message: String) {
    self.message = message
  }

  package var description: String { message }
}
