import StorageCore
import TreeModel

/// What a backup holds, in front of it: of which store and which moment it is, and each file with its size and digest.
package struct BackupManifest: Sendable, Hashable {
  /// The version of the form; a reader refuses a later one.
  static let format: Int64 = 1
  static let bytesMax = 1 << 20
  static let filesMax = 256
  /// Files beside the store are small.
  static let sideFileBytesMax: Int64 = 16 << 20

  /// A namespace as it stands in the backup.
  package struct Namespace: Sendable, Hashable {
    package let name: String
    /// Of its last commit; 0 before the first.
    package let revision: Int64
    /// Of its last commit, in milliseconds since 1970.
    package let time: Int64

    package init(name: String, revision: Int64, time: Int64) {
      self.name = name
      self.revision = revision
      self.time = time
    }
  }

  /// A file in the backup.
  package struct File: Sendable, Hashable {
    /// Where it stands in the data folder: `doubloon.db`, `keys/NAME`, `configuration/NAME`.
    package let path: String
    package let bytes: Int64
    /// SHA-256, in hexadecimal digits.
    package let sha256: String
  }

  static let store = "doubloon.db"
  static let keyFolder = "keys"
  static let configurationFolder = "configuration"

  /// What the store is known by, whatever becomes of it; empty if no server of this version had it open yet.
  package let store: String
  package let epoch: Int64
  package let schema: Int64
  /// When it was made, in milliseconds since 1970.
  package let time: Int64
  /// The program that wrote it.
  package let writer: String
  package let namespaces: [Namespace]
  package let files: [File]

  /// Whether the keys that sign players' tokens are in it.
  package var holdsKeys: Bool { files.contains { $0.path.hasPrefix("\(Self.keyFolder)/") } }
  /// Whether the configuration is in it.
  package var holdsConfiguration: Bool { files.contains { $0.path.hasPrefix("\(Self.configurationFolder)/") } }

  var json: JSON {
    [
      "format": .int(Self.format), "store": .string(store), "epoch": .int(epoch), "schema": .int(schema), "time": .int(time),
      "writer": .string(writer),
      "namespaces": .array(
        namespaces.map { ["name": .string($0.name), "revision": .int($0.revision), "time": .int($0.time)] }),
      "files": .array(
        files.map { ["path": .string($0.path), "bytes": .int($0.bytes), "sha256": .string($0.sha256)] }),
    ]
  }
}

extension BackupManifest {
  /// Reads ``json``; every file must have a place that a restore may write.
  ///
  /// - Throws: ``BackupError``
  init(_ json: JSON) throws(BackupError) {
    guard let format = json["format"]?.int else { throw Self.unreadable }
    guard format == Self.format else {
      throw BackupError(.unsuitable, "It has format \(format), this program knows \(Self.format). Use a newer Doubloon.")
    }
    guard let store = json["store"]?.string, let epoch = json["epoch"]?.int, let schema = json["schema"]?.int,
      let time = json["time"]?.int, let writer = json["writer"]?.string, let namespaces = json["namespaces"]?.array,
      let files = json["files"]?.array, files.count <= Self.filesMax
    else { throw Self.unreadable }
    (self.store, self.epoch, self.schema, self.time, self.writer) = (store, epoch, schema, time, writer)
    self.namespaces = try namespaces.map { row throws(BackupError) in
      // Names are printed on terminals: a forged one must not write there what it likes.
      guard let name = row["name"]?.string, NamespaceName.isLegal(name), let revision = row["revision"]?.int,
        let time = row["time"]?.int
      else { throw Self.unreadable }
      return Namespace(name: name, revision: revision, time: time)
    }
    self.files = try files.map { row throws(BackupError) in
      guard let path = row["path"]?.string, let bytes = row["bytes"]?.int, let sha256 = row["sha256"]?.string,
        Self.isPlace(path), bytes >= 0, path == Self.store || bytes <= Self.sideFileBytesMax, sha256.utf8.count == 64
      else { throw Self.unreadable }
      return File(path: path, bytes: bytes, sha256: sha256)
    }
    let paths = self.files.map(\.path)
    guard paths.contains(Self.store), Set(paths).count == paths.count else { throw Self.unreadable }
  }

  private static var unreadable: BackupError { SealedReader.damaged("its list of files cannot be read") }

  /// Whether a restore may write a file there: it must stay in its folder, whatever a forged backup says.
  static func isPlace(_ path: String) -> Bool {
    if path == store { return true }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && [keyFolder, configurationFolder].contains(String(parts[0])) && isName(String(parts[1]))
  }

  /// Whether a file of that name can be in a backup.
  static func isName(_ name: String) -> Bool {
    (1...200).contains(name.utf8.count) && name.first != "."
      && name.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) || "-_.".utf8.contains($0) }
  }
}
