import Glibc
import RewardModel
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeModel

@testable import Backups

/// A data folder with a store, keys and a configuration, and what makes backups of it.
final class BackedUpFolder {
  let folder = TemporaryFolder()
  let engine: SQLiteEngine
  let session: any WriteSession
  let namespace: NamespaceID
  var data: String { folder.file("data") }

  init() throws {
    engine = try SQLiteEngine(directory: folder.file("data"))
    _ = try engine.identity(orDeclaring: { "0123456789abcdef" })
    session = try engine.makeWriteSession()
    namespace = try #require(try session.namespace(named: "demo-default-rtdb", creatingAt: 1000))
    mkdir("\(data)/keys", 0o700)
    try folder.write("signing key", to: "data/keys/one.key")
    try folder.write("secret", to: "data/keys/identities.secret")
    try folder.write("{}", to: "doubloon.jsonc")
    for name in ["keys/one.key", "keys/identities.secret"] { chmod("\(data)/\(name)", 0o600) }
    try put(1)
  }

  deinit { engine.close() }

  /// Commits one value at /a.
  func put(_ value: Int64) throws {
    let path = try PathBytes(Path(parsing: "/a"))
    var head = try session.head(of: namespace)
    let before = try session.leaf(in: namespace, at: path)?.leaf.scalar
    let changes = [LeafChange(path: path, before: before, after: .int(value))]
    let (revision, digest) = (head.revision.next, CommitRecord.digest(of: changes))
    let time = 1000 + revision.rawValue
    let hash = CommitRecord.chainHash(
      previous: head.commitHash, epoch: session.epoch, revision: revision, time: time, actor: .anonymous, requestID: nil,
      cause: nil, suppressesTriggers: false, digest: digest)
    session.setLeaf(.int(value), at: path, revision: revision, in: namespace)
    session.append(
      CommitRecord(
        namespace: namespace, epoch: session.epoch, revision: revision, time: time, actor: .anonymous, requestID: nil,
        cause: nil, suppressesTriggers: false, changes: changes, digest: digest, hash: hash))
    (head.revision, head.time, head.commitHash) = (revision, time, hash)
    session.setHead(head, of: namespace)
    try session.commit()
  }

  var maker: BackupMaker {
    BackupMaker(
      engine: engine, folder: data, clock: AdjustableClock(frozenAt: 5000), configurationFiles: [folder.file("doubloon.jsonc")])
  }
}

@Suite("Backups of a data folder")
struct BackupFileTests {
  let source: BackedUpFolder
  let identity = BackupIdentity.generate()

  init() throws { source = try BackedUpFolder() }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  private func file(_ name: String) -> String { source.folder.file(name) }

  private var everything: BackupContents {
    BackupContents(recipient: identity.recipient, includesKeys: true, includesConfiguration: true)
  }

  @Test("a sealed one brings back the store, the keys and the configuration, for the owner alone")
  func roundTrip() throws {
    let outcome = try source.maker.write(everything, to: file("b.backup"))
    #expect(mode(file("b.backup")) == 0o600 && outcome.isSealed)
    #expect(outcome.bytes == Int64(try DiskFiles.bytes(file("b.backup")).count))
    #expect(outcome.manifest.store == "0123456789abcdef" && outcome.manifest.time == 5000 && outcome.manifest.epoch == 1)
    #expect(outcome.manifest.namespaces == [.init(name: "demo-default-rtdb", revision: 1, time: 1001)])
    #expect(try !DiskFiles.holds("signing key", file("b.backup")))
    try source.put(2)

    let restored = try RestoredFolder(of: file("b.backup"), to: file("new"), opener: .identity(identity))
    #expect(restored.epoch == 2 && restored.manifest == outcome.manifest)
    #expect(FileSystem.exists(file("new")) == false)
    try restored.commit()
    #expect(mode(file("new")) == 0o700 && mode(file("new/keys")) == 0o700)
    for (name, text) in [
      ("keys/one.key", "signing key"), ("keys/identities.secret", "secret"), ("configuration/doubloon.jsonc", "{}"),
    ] {
      #expect(try DiskFiles.bytes(file("new/\(name)")) == Array(text.utf8))
      #expect(mode(file("new/\(name)")) == 0o600)
    }
    let engine = try SQLiteEngine(directory: file("new"))
    defer { engine.close() }
    #expect(try engine.check().isSound)
    #expect(try engine.identity(orDeclaring: { "another" }) == "0123456789abcdef")
    let leaves = try engine.read { try $0.leaves(in: source.namespace, under: PathBytes(bytes: []), limit: 10) }
    #expect(leaves.map(\.leaf.scalar) == [.int(1)])
    #expect(FileSystem.names(in: source.data)?.contains { $0.hasPrefix("backup-") } == false)
    #expect(FileSystem.names(in: source.folder.path) == ["b.backup", "data", "doubloon.jsonc", "new"])
  }

  @Test("an open one holds no keys unless they are asked for")
  func unsealed() throws {
    #expect(try source.maker.write(BackupContents(), to: file("b")).manifest.files.map(\.path) == ["doubloon.db"])
    let asked = try source.maker.write(BackupContents(includesKeys: true), to: file("b"))
    #expect(
      asked.manifest.files.map(\.path) == ["doubloon.db", "keys/identities.secret", "keys/one.key"] && asked.manifest.holdsKeys)
  }

  @Test("what cannot be opened, or is damaged, leaves nothing behind")
  func refused() throws {
    _ = try source.maker.write(everything, to: file("b.backup"))
    let bytes = try DiskFiles.bytes(file("b.backup"))
    var flipped = bytes
    flipped[bytes.count / 2] ^= 1
    let rows: [(String, [UInt8], BackupOpener, BackupError.Code)] = [
      ("flipped", flipped, .identity(identity), .damaged),
      ("cut", Array(bytes.dropLast(20)), .identity(identity), .damaged),
      ("wrong key", bytes, .identity(.generate()), .sealed), ("no key", bytes, .none, .sealed),
      ("longer", bytes + [0], .identity(identity), .damaged),
    ]
    for (name, content, opener, code) in rows {
      TemporaryFolder.fill(content, file("x"))
      for target in [file("new"), file("deep/er/new")] {
        let error = #expect(throws: BackupError.self) { try RestoredFolder(of: file("x"), to: target, opener: opener) }
        #expect(error?.code == code, "\(name): \(error?.message ?? "")")
        #expect(!FileSystem.exists(target))
      }
    }
    TemporaryFolder.fill(Array("no backup at all".utf8), file("x"))
    #expect(throws: StorageError.self) { try RestoredFolder(of: file("x"), to: file("new"), opener: .none) }
    #expect(FileSystem.names(in: source.folder.path)?.filter { $0.hasPrefix("new") } == [])
  }

  @Test("a folder with something in it is not restored into; an empty one is")
  func occupied() throws {
    _ = try source.maker.write(BackupContents(), to: file("b.backup"))
    mkdir(file("full"), 0o755)
    try source.folder.write("mine", to: "full/file")
    try source.folder.write("mine", to: "plain")
    for target in ["full", "plain"] {
      let error = #expect(throws: BackupError.self) {
        try RestoredFolder(of: file("b.backup"), to: file(target), opener: .none)
      }
      #expect(error?.code == .unsuitable)
    }
    #expect(FileSystem.names(in: file("full")) == ["file"])
    mkdir(file("empty"), 0o750)
    let restored = try RestoredFolder(of: file("b.backup"), to: file("empty"), opener: .none)
    try restored.commit()
    #expect(FileSystem.names(in: file("empty"))?.contains("doubloon.db") == true)
    #expect(FileSystem.names(in: file("empty"))?.contains { $0.hasPrefix(".restoring") } == false)
    #expect(mode(file("empty")) == 0o750)
    try SQLiteEngine(directory: file("empty")).close()
  }

  @Test("a link keeps its place, and the file that it leads to is replaced")
  func links() throws {
    try source.folder.write("DoubloonBackup1\n, an earlier one", to: "real")
    symlink(file("real"), file("link"))
    symlink(file("nothing"), file("dangling"))
    symlink(source.data, file("shortcut"))
    _ = try source.maker.write(BackupContents(), to: file("link"))
    #expect(BackupReader.isBackup(file("real")) && mode(file("link")) == 0o777 && mode(file("real")) == 0o600)
    for path in [file("dangling"), file("shortcut/b"), source.data + "/b", "/dev/null", file("none/b")] {
      #expect(throws: BackupError.self) { try source.maker.write(BackupContents(), to: path) }
    }
    #expect(FileSystem.names(in: source.folder.path)?.contains { $0.hasSuffix(".partial") } == false)
    // A key that is a link is read through it: what a restore needs is its content.
    rename("\(source.data)/keys/one.key", file("elsewhere.key"))
    symlink(file("elsewhere.key"), "\(source.data)/keys/one.key")
    mkdir("\(source.data)/keys/folder", 0o700)
    let manifest = try source.maker.write(BackupContents(includesKeys: true), to: file("b")).manifest
    #expect(manifest.files.map(\.path) == ["doubloon.db", "keys/identities.secret", "keys/one.key"])
  }

  @Test("a file that is no backup stays what it was")
  func otherFiles() throws {
    try source.folder.write("root:x:0:0:root:/root:/bin/bash\n", to: "passwd")
    symlink(file("passwd"), file("link"))
    for name in ["passwd", "link"] {
      let error = #expect(throws: BackupError.self) { try source.maker.write(everything, to: file(name)) }
      #expect(error?.code == .unsuitable && error?.message.contains("replaces only an earlier one") == true)
    }
    #expect(try DiskFiles.bytes(file("passwd")).count == 32 && !FileSystem.exists(file("passwd.partial")))
  }

  @Test("a file that was written is read again: what is not what went in is found")
  func readAgain() throws {
    for contents in [BackupContents(), everything] {
      let outcome = try source.maker.write(contents, to: file("b"))
      try BackupReader.check(file("b"), sha256: outcome.sha256)
      var bytes = try DiskFiles.bytes(file("b"))
      bytes[bytes.count - 100] ^= 1
      TemporaryFolder.fill(bytes, file("c"))
      let error = #expect(throws: BackupError.self) { try BackupReader.check(file("c"), sha256: outcome.sha256) }
      #expect(error?.code == .damaged)
      #expect(throws: BackupError.self) { try BackupReader.check(file("none"), sha256: outcome.sha256) }
    }
  }

  @Test("more than a server's keys is not taken into memory")
  func tooMuch() throws {
    for name in ["a", "b", "c"] {
      TemporaryFolder.fill([1], "\(source.data)/keys/\(name)")
      truncate("\(source.data)/keys/\(name)", 12 << 20)
    }
    let error = #expect(throws: BackupError.self) { try source.maker.write(everything, to: file("b")) }
    #expect(error?.code == .unsuitable && !FileSystem.exists(file("b")))
    truncate("\(source.data)/keys/a", 17 << 20)
    #expect(throws: BackupError.self) { try source.maker.write(everything, to: file("b")) }
  }

  @Test("names that lead out of the folder are refused in a manifest")
  func places() {
    let rows: [(String, Bool)] = [
      ("doubloon.db", true), ("keys/a.key", true), ("configuration/doubloon.jsonc", true), ("keys/../doubloon.db", false),
      ("keys/.hidden", false), ("/etc/passwd", false), ("keys/a/b", false), ("keys/", false), ("other", false), ("", false),
      ("doubloon.db/x", false), ("keys/a\u{0}", false), ("../keys/a", false),
    ]
    for (path, isPlace) in rows { #expect(BackupManifest.isPlace(path) == isPlace, "\(path)") }
  }

  @Test("names of namespaces that no server gives are refused in a manifest: they are printed on terminals")
  func namespaceNames() throws {
    for (name, isLegal) in [("game-default-rtdb", true), ("\u{1B}[2Jx", false), ("a\nAll is sound.", false), ("", false)] {
      let json = BackupManifest(
        store: "", epoch: 1, schema: 1, time: 0, writer: "", namespaces: [.init(name: name, revision: 1, time: 0)],
        files: [.init(path: BackupManifest.store, bytes: 0, sha256: String(repeating: "0", count: 64))]
      ).json
      if isLegal { _ = try BackupManifest(json) } else { #expect(throws: BackupError.self) { try BackupManifest(json) } }
    }
  }

  @Test("two at a time to one file are refused, and what a killed process left is no obstacle")
  func partials() throws {
    try source.folder.write("rest", to: "b.partial")
    let held = open(file("b.partial"), O_WRONLY)
    flock(held, LOCK_EX)
    let error = #expect(throws: BackupError.self) { try source.maker.write(BackupContents(), to: file("b")) }
    #expect(error?.message.contains("Another backup") == true)
    close(held)
    _ = try source.maker.write(BackupContents(), to: file("b"))
    link(file("doubloon.jsonc"), file("c.partial"))
    symlink(file("doubloon.jsonc"), file("d.partial"))
    for name in ["c", "d"] {
      #expect(throws: BackupError.self) { try source.maker.write(BackupContents(), to: file(name)) }
    }
    #expect(try DiskFiles.bytes(file("doubloon.jsonc")) == Array("{}".utf8))
    mkdir("\(source.data)/backup-abcdef", 0o700)
    mkdir("\(source.data)/backup-mine", 0o700)
    BackupMaker.removeLeftovers(in: source.data)
    #expect(FileSystem.names(in: source.data)?.filter { $0.hasPrefix("backup-") } == ["backup-mine"])
  }
}

extension TemporaryFolder {
  /// Writes bytes into a file, in place of what is there.
  static func fill(_ bytes: [UInt8], _ path: String) {
    guard let file = fopen(path, "w") else { preconditionFailure("\(path) cannot be opened.") }
    defer { fclose(file) }
    let count = fwrite(bytes, 1, bytes.count, file)
    precondition(count == bytes.count, "\(path) cannot be written.")
  }
}
