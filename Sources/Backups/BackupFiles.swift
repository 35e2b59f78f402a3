import Crypto
import Glibc
import StorageSQLite
import TextFormats

/// A file that a backup is written into. It counts and hashes what goes through it.
final class FileOutput: BackupOutput {
  let path: String
  private var descriptor: Int32
  private var hash = SHA256()
  private(set) var count: Int64 = 0

  /// - Parameter descriptor: an open file, which is closed by ``finish()`` or with the value.
  init(_ descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Makes a new file that its owner alone can read; never in place of another, and never through a link.
  convenience init(creating path: String) throws(BackupError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileSystem.failed("creating", path: path) }
    self.init(descriptor, path: path)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func write(_ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw FileSystem.failed("writing", path: path) }
      done += written
    }
    hash.update(data: bytes)
    count += Int64(bytes.count)
  }

  /// What went through so far: SHA-256, in hexadecimal digits.
  var sha256: String { Hex.encode(Array(hash.finalize())) }

  /// Makes what was written durable, and closes the file.
  func finish() throws(BackupError) {
    guard fsync(descriptor) == 0 else { throw FileSystem.failed("syncing", path: path) }
    close(descriptor)
    descriptor = -1
  }
}

/// A file that a backup is read from.
final class FileInput: BackupInput {
  private let path: String
  private let descriptor: Int32

  /// Opens a regular file, at the end of links too.
  init(_ path: String) throws(BackupError) {
    self.path = path
    // A pipe without a writer must not keep the reader waiting for one.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileSystem.failed("opening", path: path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw BackupError(.unsuitable, "\(path) is no regular file.")
    }
  }

  deinit { close(descriptor) }

  /// How long it is, in bytes.
  var size: Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }

  func read(upTo count: Int) throws -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = 0
      guard count > 0 else { return }
      var result = Glibc.read(descriptor, buffer.baseAddress!, count)
      while result < 0, errno == EINTR { result = Glibc.read(descriptor, buffer.baseAddress!, count) }
      if result < 0 { failure = errno } else { filled = result }
    }
    guard failure == 0 else {
      errno = failure
      throw FileSystem.failed("reading", path: path)
    }
    return bytes
  }
}

/// A file in the making: it gets its name when it is whole and durable. An earlier backup of that
/// name is replaced then, links stay.
struct FileReplacement {
  /// Where it will stand, at the end of links.
  let target: String
  private let partial: String
  let output: FileOutput

  /// - Parameter folder: the data folder, in which no backup is put; nil where the data are in memory.
  init(_ path: String, notIn folder: String?) throws(BackupError) {
    target = try Self.target(path)
    let parent = FileSystem.folder(of: target)
    if let folder, FileSystem.isInside(parent, folder: folder) {
      throw BackupError(
        .unsuitable,
        "\(path) is in the data folder, where a backup could replace the live store. Name a file in another folder.")
    }
    partial = target + ".partial"
    output = FileOutput(try Self.makePartial(partial, of: path), path: partial)
  }

  /// What a process left there that was killed is used again; two at a time are refused.
  private static func makePartial(_ partial: String, of path: String) throws(BackupError) -> Int32 {
    while true {
      let descriptor = open(partial, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw FileSystem.failed("creating", path: partial) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw BackupError(
          .unsuitable, "Another backup to \(path) is being made. Wait until it is done, or name another file.")
      }
      var (held, named) = (stat(), stat())
      // Its earlier owner may have given it its name since it was opened: that is a backup now.
      guard fstat(descriptor, &held) == 0, lstat(partial, &named) == 0, held.st_ino == named.st_ino else {
        close(descriptor)
        continue
      }
      // A file that somebody else has put there would stay that user's, to read.
      guard held.st_uid == geteuid(), held.st_mode & S_IFMT == S_IFREG, held.st_nlink == 1 else {
        close(descriptor)
        throw BackupError(.unsuitable, "\(partial) is in the way, and not this user's own. Remove it, or name another file.")
      }
      guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else {
        close(descriptor)
        throw FileSystem.failed("emptying", path: partial)
      }
      return descriptor
    }
  }

  private static func target(_ path: String) throws(BackupError) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard lstat(path, &status) != 0 else {
        throw BackupError(.unsuitable, "\(path) is a link to nothing. Remove it, or name another file.")
      }
      return path
    }
    guard let resolved = realpath(path, nil) else { throw FileSystem.failed("following the links at", path: path) }
    defer { free(resolved) }
    let target = String(cString: resolved)
    if let objection = BackupTarget.objection(to: target) { throw BackupError(.unsuitable, objection) }
    return target
  }

  /// Gives it its name. Once this returns it is there after a power cut too.
  func commit() throws(BackupError) {
    try output.finish()
    guard rename(partial, target) == 0 else { throw FileSystem.failed("renaming", path: partial) }
    try FileSystem.sync(folder: FileSystem.folder(of: target))
  }

  func abandon() {
    unlink(partial)
  }
}

/// The few calls of the file system that backups make.
enum FileSystem {
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether a path is the folder or below it, whatever either is called.
  static func isInside(_ path: String, folder: String) -> Bool {
    guard let inner = realpath(path, nil), let outer = realpath(folder, nil) else { return false }
    defer {
      free(inner)
      free(outer)
    }
    let (place, around) = (String(cString: inner), String(cString: outer))
    return place == around || place.hasPrefix(around == "/" ? around : around + "/")
  }

  static func makeFolder(_ path: String) throws(BackupError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failed("creating the folder", path: path) }
  }

  /// A fresh folder for its owner alone.
  ///
  /// - Parameter prefix: its path, but for six letters at the end.
  static func makeTemporaryFolder(_ prefix: String) throws(BackupError) -> String {
    var template = Array("\(prefix)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw failed("creating a folder", path: prefix) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Makes the names in a folder durable.
  static func sync(folder: String) throws(BackupError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failed("opening", path: folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failed("syncing", path: folder) }
  }

  /// The names in a folder, sorted, without itself and its parent; none if it cannot be read.
  static func names(in path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Whether a regular file is at the end of a path's links.
  static func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Removes what is at a path, with everything in it; links are removed, not followed.
  static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in names(in: path) ?? [] { remove("\(path)/\(name)") }
    rmdir(path)
  }

  static func failed(_ action: String, path: String) -> BackupError {
    let code = errno
    let advice = code == ENOSPC || code == EDQUOT ? "Make room on the disk" : "Check the path and its permissions"
    return BackupError(.failed, "\(action) \(path) failed: \(String(cString: strerror(code))). \(advice), then try again.")
  }
}
