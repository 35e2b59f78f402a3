import Crypto
import Glibc
package import StorageCore
import StorageSQLite
import TextFormats
import TreeModel

/// What a backup is to hold beside the store, and for whom.
package struct BackupContents: Sendable {
  /// To whom it is sealed; nil leaves it open to read.
  package var recipient: BackupRecipient?
  /// Whether the key files of the data folder are in it. With them anyone who reads the backup can sign tokens of any player.
  package var includesKeys: Bool
  /// Whether the files of the configuration are in it. Secrets are not: they do not stand in those files.
  package var includesConfiguration: Bool

  package init(recipient: BackupRecipient? = nil, includesKeys: Bool = false, includesConfiguration: Bool = false) {
    self.recipient = recipient
    self.includesKeys = includesKeys
    self.includesConfiguration = includesConfiguration
  }
}

/// Makes backups of a store while it is open: a copy as of one moment, then the copy and the small files as one stream.
///
/// The copy lies in the data folder for as long as that takes, so it needs as much room there as the store. Calls block: they are
/// for a thread of their own.
package struct BackupMaker: Sendable {
  private static let workPrefix = "backup-"
  /// Bytes that are read and sealed at a time.
  private static let blockSize = 1 << 18

  let engine: any StorageEngine
  /// The data folder; nil where the data are in memory.
  package let folder: String?
  let clock: any WallClock
  /// The program that writes, with its version.
  let writer: String
  /// The files that the server's configuration was read from.
  let configurationFiles: [String]

  package init(
    engine: any StorageEngine, folder: String?, clock: any WallClock, writer: String = "doubloon",
    configurationFiles: [String] = []
  ) {
    self.engine = engine
    self.folder = folder
    self.clock = clock
    self.writer = writer
    self.configurationFiles = configurationFiles
  }

  /// A backup that was made.
  package struct Outcome: Sendable {
    package let manifest: BackupManifest
    /// Of the whole file.
    package let bytes: Int64
    /// Of the whole file, in hexadecimal digits.
    package let sha256: String
    /// Whether only its recipient can read it.
    package let isSealed: Bool
  }

  /// Writes a backup under a name that it gets only when it is whole and durable; its owner alone can read it.
  ///
  /// - Throws: ``BackupError``, or `StorageError` if the store cannot be copied.
  package func write(_ contents: BackupContents, to path: String) throws -> Outcome {
    let file = try FileReplacement(path, notIn: folder)
    do {
      let manifest = try write(contents, to: file.output)
      let outcome = Outcome(
        manifest: manifest, bytes: file.output.count, sha256: file.output.sha256, isSealed: contents.recipient != nil)
      try file.commit()
      return outcome
    } catch {
      file.abandon()
      throw error
    }
  }

  /// Writes a backup as a stream.
  package func write(_ contents: BackupContents, to output: any BackupOutput) throws -> BackupManifest {
    let time = clock.now()
    let work = try makeWorkFolder()
    defer { FileSystem.remove(work) }
    let copy = "\(work)/\(BackupManifest.store)"
    try engine.backup(to: copy)
    let sideFiles = try self.sideFiles(contents)
    let summary = try StoreSummary(of: copy)
    let store = try Self.measured(copy)
    let manifest = BackupManifest(
      store: summary.identity ?? "", epoch: summary.epoch, schema: summary.schema, time: time, writer: writer,
      namespaces: summary.namespaces.map { .init(name: $0.name, revision: $0.revision, time: $0.time) },
      files: [store] + sideFiles.map(\.file))
    var stream = try SealedWriter(to: contents.recipient, output: output)
    let head = Array(manifest.json.compactText.utf8)
    guard head.count <= BackupManifest.bytesMax else {
      throw BackupError(.unsuitable, "The store has too many namespaces to list in a backup.")
    }
    try stream.write(SealedForm.word(UInt32(head.count)))
    try stream.write(head)
    try Self.send(copy, bytes: store.bytes, to: &stream)
    for file in sideFiles { try stream.write(file.content) }
    try stream.finish()
    return manifest
  }

  /// Removes what a process left of a copy that was killed. Only where no backup is being made: at the start.
  package static func removeLeftovers(in folder: String) {
    for name in FileSystem.names(in: folder) ?? [] where name.hasPrefix(workPrefix) && name.utf8.count == workPrefix.count + 6 {
      FileSystem.remove("\(folder)/\(name)")
    }
  }

  private func makeWorkFolder() throws -> String {
    if let folder { return try FileSystem.makeTemporaryFolder("\(folder)/\(Self.workPrefix)") }
    return try FileSystem.makeTemporaryFolder(TemporaryPlace.folder() + "/doubloon-\(Self.workPrefix)")
  }

  // MARK: Files

  private struct SideFile {
    let file: BackupManifest.File
    let content: [UInt8]
  }

  /// The small files, read whole: none of them changes between its digest and its bytes.
  private func sideFiles(_ contents: BackupContents) throws -> [SideFile] {
    var files: [SideFile] = []
    if contents.includesKeys, let keys = folder.map({ "\($0)/\(BackupManifest.keyFolder)" }) {
      for name in FileSystem.names(in: keys) ?? [] where FileSystem.isRegularFile("\(keys)/\(name)") {
        guard BackupManifest.isName(name) else { continue }
        // One that a rotation has just removed is not needed any more.
        guard let content = try? Self.content(of: "\(keys)/\(name)") else {
          if FileSystem.exists("\(keys)/\(name)") { _ = try Self.content(of: "\(keys)/\(name)") }
          continue
        }
        files.append(Self.side("\(BackupManifest.keyFolder)/\(name)", content))
      }
    }
    if contents.includesConfiguration, configurationFiles.isEmpty {
      throw BackupError(.unsuitable, "There is no configuration to back up: this server was not started with a file.")
    }
    for path in contents.includesConfiguration ? configurationFiles : [] {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      let place = "\(BackupManifest.configurationFolder)/\(name)"
      guard BackupManifest.isName(name), !files.contains(where: { $0.file.path == place }) else {
        throw BackupError(
          .unsuitable, "\(path) cannot be in a backup: name the files of a configuration in letters, digits and - _ . only.")
      }
      files.append(Self.side(place, try Self.content(of: path)))
    }
    let bytes = files.reduce(0) { $0 + $1.file.bytes }
    guard files.count < BackupManifest.filesMax, bytes <= 2 * BackupManifest.sideFileBytesMax else {
      throw BackupError(
        .unsuitable,
        "There are \(files.count) files of \(bytes) bytes beside the store, which are too many for a server's keys and "
          + "configuration. Remove what is none of them.")
    }
    return files
  }

  private static func side(_ place: String, _ content: [UInt8]) -> SideFile {
    let digest = Hex.encode(Array(SHA256.hash(data: content)))
    return SideFile(file: .init(path: place, bytes: Int64(content.count), sha256: digest), content: content)
  }

  private static func content(of path: String) throws -> [UInt8] {
    let input = try FileInput(path)
    guard input.size <= BackupManifest.sideFileBytesMax else {
      throw BackupError(
        .unsuitable, "\(path) is larger than \(BackupManifest.sideFileBytesMax >> 20) MB; it is no file of a server.")
    }
    var content: [UInt8] = []
    while true {
      let block = try input.read(upTo: blockSize)
      if block.isEmpty { return content }
      content += block
    }
  }

  private static func measured(_ path: String) throws -> BackupManifest.File {
    let input = try FileInput(path)
    var hash = SHA256()
    var count: Int64 = 0
    while true {
      let block = try input.read(upTo: blockSize)
      if block.isEmpty { break }
      hash.update(data: block)
      count += Int64(block.count)
    }
    return .init(path: BackupManifest.store, bytes: count, sha256: Hex.encode(Array(hash.finalize())))
  }

  private static func send(_ path: String, bytes: Int64, to stream: inout SealedWriter) throws {
    let input = try FileInput(path)
    var sent: Int64 = 0
    while true {
      let block = try input.read(upTo: blockSize)
      if block.isEmpty { break }
      try stream.write(block)
      sent += Int64(block.count)
    }
    guard sent == bytes else { throw BackupError(.failed, "The copy of the store changed while it was read. Try again.") }
  }
}

/// Where things are put that are needed for a while and may be large.
package enum TemporaryPlace {
  /// `TMPDIR`, else `/var/tmp`, which is on a disk, else `/tmp`.
  package static func folder() -> String {
    let variable = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    return [variable, "/var/tmp"].first { !$0.isEmpty && access($0, W_OK) == 0 } ?? "/tmp"
  }
}
