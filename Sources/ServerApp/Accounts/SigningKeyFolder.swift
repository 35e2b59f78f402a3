import Credentials
import Glibc
import Logging
import StorageCore

/// The keys that sign tokens, as files beside the data: made at the first start, replaced in time, removed when nothing that
/// they signed is valid any more.
struct SigningKeyFolder: Sendable {
  /// How often it looks whether a key is to be made or removed, in milliseconds.
  private static let interval: Int64 = 3_600_000

  /// `…/keys`, mode 0700.
  let path: String
  let clock: any WallClock
  let logger: Logger

  /// Reads the keys, and makes the first.
  func load() throws -> KeyRing {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError(.failed, "The folder \(path) cannot be made: \(String(cString: strerror(errno))).")
    }
    var entries: [KeyRing.Entry] = []
    for name in try names() where name.hasSuffix(KeyFile.suffix) {
      let bytes = try FileBytes.read("\(path)/\(name)")
      entries.append(try KeyFile.entry(in: String(decoding: bytes, as: UTF8.self)))
    }
    if entries.isEmpty { entries = [try make(signsFrom: clock.now())] }
    return KeyRing(entries)
  }

  /// Rotates until the task is cancelled.
  func rotate(_ keys: CurrentKeys) async throws {
    while true {
      do {
        try turn(keys)
      } catch {
        // The keys that are there go on; the next round tries again.
        logger.error("the signing keys could not be rotated", metadata: ["why": "\(error)"])
      }
      try await clock.sleep(until: clock.now() + Self.interval)
    }
  }

  private func turn(_ keys: CurrentKeys) throws {
    let now = clock.now()
    var ring = keys.ring
    if let start = ring.nextStart(at: now) {
      let entry = try make(signsFrom: start)
      ring = ring.adding(entry.key, from: start)
      logger.notice("a signing key was made", metadata: ["key": "\(entry.key.id)"])
    }
    let outlived = ring.outlived(at: now)
    if !outlived.isEmpty {
      ring = ring.removing(outlived)
      for id in outlived { unlink("\(path)/\(KeyFile.name(of: id))") }
    }
    keys.replace(with: ring)
  }

  private func make(signsFrom: Int64) throws -> KeyRing.Entry {
    let entry = KeyRing.Entry(key: try SigningKey.generate(), signsFrom: signsFrom)
    try write(KeyFile.text(of: entry), to: "\(path)/\(KeyFile.name(of: entry.key.id))")
    return entry
  }

  /// Writes a file that only this user may read, whole or not at all.
  private func write(_ text: String, to file: String) throws {
    let draft = file + ".new"
    let handle = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard handle >= 0 else {
      throw StorageError(.failed, "\(draft) cannot be written: \(String(cString: strerror(errno))).")
    }
    let bytes = Array(text.utf8)
    let isWritten = bytes.withUnsafeBytes { Glibc.write(handle, $0.baseAddress, $0.count) } == bytes.count && fsync(handle) == 0
    close(handle)
    guard isWritten, rename(draft, file) == 0 else {
      throw StorageError(.failed, "\(file) cannot be written: \(String(cString: strerror(errno))).")
    }
  }

  private func names() throws -> [String] {
    guard let folder = opendir(path) else {
      throw StorageError(.failed, "The folder \(path) cannot be read: \(String(cString: strerror(errno))).")
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.sorted()
  }
}
