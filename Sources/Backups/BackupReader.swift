import Crypto
import Glibc
import Ledger
package import StorageSQLite
import TextFormats
import TreeModel

/// A backup that is read: from a file that ``BackupMaker`` wrote.
package struct BackupReader {
  private var stream: SealedReader
  private var piece: ArraySlice<UInt8> = []
  /// What it holds.
  package let manifest: BackupManifest
  /// To whom it is sealed; nil if it is open.
  package var recipient: BackupRecipient? { stream.recipient }

  /// Opens a backup and reads what it holds.
  ///
  /// - Throws: ``BackupError``: `unsuitable` if it is none, `sealed` if the opener does not open it.
  package init(_ path: String, opener: BackupOpener) throws {
    try self.init(FileInput(path), opener: opener)
  }

  init(_ input: any BackupInput, opener: BackupOpener) throws {
    var stream = try SealedReader(input, opener: opener)
    var piece: ArraySlice<UInt8> = []
    let word = try Self.take(4, of: &stream, piece: &piece)
    let count = Int(word.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    guard count <= BackupManifest.bytesMax else { throw SealedReader.damaged("its list of files is too long") }
    let text = try Self.take(count, of: &stream, piece: &piece)
    guard let json = try? JSONParser.parse(String(decoding: text, as: UTF8.self)) else {
      throw SealedReader.damaged("its list of files cannot be read")
    }
    manifest = try BackupManifest(json)
    self.stream = stream
    self.piece = piece
  }

  /// Whether a file begins as a backup does. What does not may be a bare copy of a store.
  package static func isBackup(_ path: String) -> Bool {
    guard let input = try? FileInput(path), let start = try? input.read(upTo: SealedForm.magic.count) else { return false }
    return start == SealedForm.magic
  }

  /// Whether the pieces of a file, as far as they can be followed without a key, go on to an end: what a server can see of a
  /// backup that only somebody else can open. Of an open backup every byte is compared with its digest.
  ///
  /// - Parameter sha256: what the whole file must be, in hexadecimal digits.
  /// - Throws: ``BackupError``
  static func check(_ path: String, sha256: String) throws {
    let input = try FileInput(path)
    var hash = SHA256()
    while true {
      let block = try input.read(upTo: SealedForm.pieceSize)
      if block.isEmpty { break }
      hash.update(data: block)
    }
    guard Hex.encode(Array(hash.finalize())) == sha256 else {
      throw BackupError(.damaged, "\(path) does not hold what was written. Check the disk.")
    }
    do {
      var reader = try SealedReader(FileInput(path), opener: .none)
      while try reader.next() != nil {}
    } catch let error as BackupError where error.code == .sealed {
      return
    }
  }

  /// Writes every file of the backup into a folder, each with the mode 0600 and folders with 0700, and compares it with its
  /// digest. To be called once.
  ///
  /// - Parameter folder: an empty folder of the caller's own, who removes it if this throws.
  /// - Throws: ``BackupError``
  package mutating func unpack(into folder: String) throws {
    for file in manifest.files {
      let parent = FileSystem.folder(of: "\(folder)/\(file.path)")
      try FileSystem.makeFolder(parent)
      let output = try FileOutput(creating: "\(folder)/\(file.path)")
      var left = file.bytes
      while left > 0 {
        if piece.isEmpty { try fill(file.path) }
        let part = piece.prefix(Int(min(left, Int64(piece.count))))
        try output.write(Array(part))
        piece = piece.dropFirst(part.count)
        left -= Int64(part.count)
      }
      guard output.sha256 == file.sha256.lowercased() else {
        throw SealedReader.damaged("\(file.path) in it is not what its digest says")
      }
      try output.finish()
      try FileSystem.sync(folder: parent)
    }
    // Its last piece must have been seen: until then nothing says that it was not cut off.
    while let rest = try stream.next() { piece += rest }
    guard piece.isEmpty else { throw SealedReader.damaged("something stands behind its files") }
    try FileSystem.sync(folder: folder)
  }

  private mutating func fill(_ path: String) throws {
    guard let next = try stream.next() else {
      throw SealedReader.damaged("\(path) in it is shorter than its list of files says")
    }
    piece = next[...]
  }

  private static func take(_ count: Int, of stream: inout SealedReader, piece: inout ArraySlice<UInt8>) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      if piece.isEmpty {
        guard let next = try stream.next() else { throw SealedReader.damaged("its list of files is cut off") }
        piece = next[...]
        continue
      }
      let part = piece.prefix(count - bytes.count)
      bytes += part
      piece = piece.dropFirst(part.count)
    }
    return bytes
  }
}

/// A data folder in the making: it gets its name when everything in it was checked, and leaves nothing if that fails.
package struct RestoredFolder {
  /// Where it is until then.
  package let path: String
  private let target: String?
  private let isInTarget: Bool
  /// What the backup says that it holds; nil for a bare copy of a store.
  package let manifest: BackupManifest?
  /// The epoch that begins with it.
  package let epoch: Int64

  /// Unpacks a backup, or a bare copy of a store, and opens its store.
  ///
  /// - `target`: the folder that it becomes with ``commit()``; nil: it is only looked at, in a temporary place.
  /// - `moment`: the moment that the store is brought back to; nil leaves it as the backup has it.
  /// - Throws: ``BackupError``, or `StorageError` if the store is damaged.
  package init(of backup: String, to target: String?, opener: BackupOpener, moment: StoreMoment? = nil) throws {
    let exists = target.map(FileSystem.exists) ?? false
    if let target, exists, FileSystem.names(in: target)?.isEmpty != true {
      throw BackupError(
        .unsuitable, "\(target) must not hold data yet: it is no empty folder. Restore into a new one, or move its files away.")
    }
    self.target = target.map { $0.count > 1 && $0.last == "/" ? String($0.dropLast()) : $0 }
    isInTarget = exists
    if let target = self.target, !exists { try Self.makeParents(of: target) }
    // On the target's own disk: inside it, where somebody has made it already, for it may be one of its own.
    path = try FileSystem.makeTemporaryFolder(
      self.target.map { $0 + (exists ? "/" : "") + ".restoring-" } ?? TemporaryPlace.folder() + "/doubloon-restore-")
    do {
      let copy = "\(path)/unpacked"
      try FileSystem.makeFolder(copy)
      guard BackupReader.isBackup(backup) else {
        manifest = nil
        epoch = try SQLiteEngine.restore(from: backup, to: path, moment: moment, derivedKinds: ReferralBuild.derivedKinds)
        rmdir(copy)
        return
      }
      var reader = try BackupReader(backup, opener: opener)
      manifest = reader.manifest
      try reader.unpack(into: copy)
      epoch = try SQLiteEngine.restore(
        from: "\(copy)/\(BackupManifest.store)", to: path, isMoved: true, moment: moment,
        derivedKinds: ReferralBuild.derivedKinds)
      for folder in [BackupManifest.keyFolder, BackupManifest.configurationFolder] where FileSystem.exists("\(copy)/\(folder)")
      {
        guard rename("\(copy)/\(folder)", "\(path)/\(folder)") == 0 else { throw FileSystem.failed("moving", path: folder) }
      }
      guard rmdir(copy) == 0 else { throw FileSystem.failed("removing", path: copy) }
    } catch {
      FileSystem.remove(path)
      throw error
    }
  }

  /// Gives it its name. Nothing may have it open.
  package func commit() throws {
    guard let target else { preconditionFailure("What is only looked at gets no name.") }
    guard isInTarget else {
      guard rename(path, target) == 0 else { throw FileSystem.failed("renaming \(path) to", path: target) }
      return try FileSystem.sync(folder: FileSystem.folder(of: target))
    }
    // The store comes last: until then no server takes the folder for whole.
    let names = (FileSystem.names(in: path) ?? []).filter { $0 != BackupManifest.store } + [BackupManifest.store]
    for name in names {
      guard rename("\(path)/\(name)", "\(target)/\(name)") == 0 else { throw FileSystem.failed("moving", path: name) }
    }
    rmdir(path)
    try FileSystem.sync(folder: target)
  }

  /// Removes it with everything in it.
  package func remove() {
    FileSystem.remove(path)
  }

  private static func makeParents(of target: String) throws(BackupError) {
    let parent = FileSystem.folder(of: target)
    guard parent != ".", parent != "/", !FileSystem.exists(parent) else { return }
    try makeParents(of: parent)
    try FileSystem.makeFolder(parent)
  }
}
