import Credentials
import Glibc
import ServerConfiguration
import StorageCore

/// Where signing keys are kept: a file each, in a folder of mode 0700, readable by the server's user alone.
///
/// Outside the database, so that a copy of the data is no copy of the keys.
struct KeyFolder: Sendable {
  let path: String
  /// Keeps what is in the folder elsewhere, too: called after each change, before anything is done with it.
  var mirror: (@Sendable () throws -> Void)?

  /// The keys that are there; none if there is no folder yet.
  ///
  /// - Throws: ``KeyFolderError`` if one cannot be read, is damaged, or is open to others.
  func load() throws -> [KeyRing.Entry] {
    guard FileBytes.exists(path) else { return [] }
    try checkMode(of: path, advice: "chmod 700 \(path)")
    var entries: [KeyRing.Entry] = []
    for name in try names() {
      let file = "\(path)/\(name)"
      try checkMode(of: file, advice: "chmod 600 \(file)")
      do {
        entries.append(try KeyFile.entry(in: String(decoding: try FileBytes.read(file), as: UTF8.self)))
      } catch let error as FileError {
        throw KeyFolderError(description: error.message)
      } catch {
        throw KeyFolderError(
          description: "\(file) is no key file of Doubloon: \(error) Restore it from a backup, or remove it.")
      }
    }
    return entries
  }

  /// Keeps a key. Once this returns it is on disk.
  func save(_ entry: KeyRing.Entry) throws {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("cannot be made", file: path) }
    let file = "\(path)/\(KeyFile.name(of: entry.key.id))"
    do throws(FileError) {
      try FileBytes.writeSecret(Array(KeyFile.text(of: entry).utf8), to: file)
    } catch {
      throw KeyFolderError(description: error.message)
    }
    try mirror?()
  }

  /// Removes the file of a key that nothing valid is signed with any more.
  func remove(_ id: KeyID) throws {
    let file = "\(path)/\(KeyFile.name(of: id))"
    if unlink(file) != 0, errno != ENOENT { throw failure("cannot be removed", file: file) }
    try mirror?()
  }

  /// The bytes of another secret that is kept here; nil if there is none.
  func secret(named name: String) throws -> [UInt8]? {
    let file = "\(path)/\(name)"
    guard FileBytes.exists(file) else { return nil }
    try checkMode(of: file, advice: "chmod 600 \(file)")
    do throws(FileError) {
      return try FileBytes.read(file)
    } catch {
      throw KeyFolderError(description: error.message)
    }
  }

  /// Keeps another secret. Once this returns it is on disk.
  func keep(secret: [UInt8], named name: String) throws {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("cannot be made", file: path) }
    do throws(FileError) {
      try FileBytes.writeSecret(secret, to: "\(path)/\(name)")
    } catch {
      throw KeyFolderError(description: error.message)
    }
    try mirror?()
  }

  private func names() throws -> [String] {
    guard let folder = opendir(path) else { throw failure("cannot be read", file: path) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(KeyFile.suffix), !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// Refuses what others may read: with a key one can be any user.
  private func checkMode(of file: String, advice: String) throws {
    var status = stat()
    guard stat(file, &status) == 0 else { throw failure("cannot be looked at", file: file) }
    guard status.st_mode & 0o077 == 0 else {
      throw KeyFolderError(description: "\(file) is open to other users of this machine; run: \(advice)")
    }
  }

  private func failure(_ what: String, file: String) -> KeyFolderError {
    KeyFolderError(description: "\(file) \(what): \(FileBytes.lastError).")
  }
}

/// The secret by which client networks, and players who were paid and left, are known again: made once, kept beside the signing
/// keys. Without it what was remembered is lost, and nothing else.
struct IdentitySecret {
  private static let name = "identities.secret"

  /// The secret of a key folder, made if there is none; a new one where keys live in memory alone.
  ///
  /// - Throws: ``KeyFolderError`` if it cannot be read or kept, or is open to others.
  static func load(from folder: KeyFolder?) throws -> [UInt8] {
    guard let folder else { return fresh() }
    if let known = try folder.secret(named: name) {
      guard known.count == IdentityHash.keyBytes else {
        throw KeyFolderError(
          description: "\(folder.path)/\(name) is damaged: restore it from a backup of the keys, or remove it.")
      }
      return known
    }
    let secret = fresh()
    try folder.keep(secret: secret, named: name)
    return secret
  }

  private static func fresh() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<IdentityHash.keyBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}

/// Why keys cannot be read or kept.
struct KeyFolderError: Error, CustomStringConvertible {
  let description: String
}
