import Crypto
import Glibc
import ServerConfiguration
import StorageCore
import StoragePostgres

/// The files of a key folder, the same on all nodes: kept in PostgreSQL, sealed with a key that PostgreSQL does not know.
///
/// Who can read the database can neither sign as the server nor read what it signs with; the sealing key stands in the configuration
/// of the nodes.
final class KeyVault: Sendable {
  private let key: SymmetricKey
  private let cell: PostgresCell
  private let fence: Int64
  private let folder: String

  /// - `secret`: what the key is made of; the same on all nodes.
  /// - `folder`: the node's key folder.
  init(_ secret: [UInt8], cell: PostgresCell, fence: Int64, folder: String) throws(StorageError) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Array("doubloon keys".utf8), outputByteCount: 32)
    self.cell = cell
    self.fence = fence
    self.folder = folder
  }

  /// Makes the folder what PostgreSQL has. A cell that has no secrets yet gets those of the folder.
  func pull() throws(StorageError) {
    if try !fetch(from: PostgresArchive(cell, random: SystemRandomNumberGenerator())) { try push() }
  }

  /// Makes the folder what PostgreSQL has.
  ///
  /// - Returns: false if it has no secrets yet: then nothing was changed.
  func fetch(from archive: PostgresArchive) throws(StorageError) -> Bool {
    let sealed = try archive.secrets()
    guard !sealed.isEmpty else { return false }
    if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Self.failure("\(folder) cannot be made") }
    for (name, bytes) in sealed {
      guard Self.isName(name), let box = try? AES.GCM.SealedBox(combined: bytes),
        let open = try? AES.GCM.open(box, using: key, authenticating: Array(name.utf8))
      else {
        throw StorageError(
          .failed, "The key \(name) in PostgreSQL was sealed with another key. Give every node the same \"storage.sealingKey\"."
        )
      }
      if let known = try? FileBytes.read("\(folder)/\(name)"), known == Array(open) { continue }
      do throws(FileError) {
        // Who was here before has left the files of its time.
        try FileBytes.write(Array(open), to: "\(folder)/\(name)", isPrivate: true)
      } catch {
        throw StorageError(.failed, error.message)
      }
    }
    for name in try names() where sealed[name] == nil { unlink("\(folder)/\(name)") }
    return true
  }

  /// Keeps what is in the folder, as long as this node leads.
  @Sendable func push() throws(StorageError) {
    var sealed: [String: [UInt8]] = [:]
    for name in try names() {
      do {
        let bytes = try FileBytes.read("\(folder)/\(name)")
        guard let box = try AES.GCM.seal(bytes, using: key, authenticating: Array(name.utf8)).combined else { continue }
        sealed[name] = Array(box)
      } catch {
        throw StorageError(.failed, "\(folder)/\(name) cannot be sealed: \(error)")
      }
    }
    guard !sealed.isEmpty else { return }
    try PostgresArchive(cell, random: SystemRandomNumberGenerator()).keep(sealed, fence: fence)
  }

  private func names() throws(StorageError) -> [String] {
    guard let opened = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw Self.failure("\(folder) cannot be read")
    }
    defer { closedir(opened) }
    var names: [String] = []
    while let entry = readdir(opened) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if Self.isName(name) { names.append(name) }
    }
    return names.sorted()
  }

  /// No other folder is reached by it.
  private static func isName(_ name: String) -> Bool { !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") }

  private static func failure(_ what: String) -> StorageError {
    StorageError(.failed, "\(what): \(String(cString: strerror(errno))).")
  }
}
