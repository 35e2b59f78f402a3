import Glibc
@testable import StorageSQLite
import Testing

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/doubloon-test-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil)
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    Self.remove(path)
  }

  func file(_ name: String) -> String { path + "/" + name }

  func exists(_ name: String) -> Bool { access(file(name), F_OK) == 0 }

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
    return names.sorted()
  }

  static func remove(_ path: String) {
    for name in names(in: path) {
      if unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
    }
    rmdir(path)
  }

  static func bytes(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &buffer, buffer.count)
      if count <= 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  static func write(_ bytes: [UInt8], to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    precondition(bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count)
  }
}

extension TemporaryFolder {
  /// Copies the files of an engine as they are, and puts the copies in the place of the originals once the engine is gone.
  func keepAsIfKilled(_ engine: SQLiteEngine) throws {
    let files = ["doubloon.db", "doubloon.db-wal"].map { ($0, Self.bytes(of: file($0))) }
    engine.close()
    for name in Self.names(in: path) where name != "doubloon.lock" {
      try #require(FileCalls.exists(file(name)))
      FileCalls.remove(file(name))
    }
    for (name, bytes) in files { Self.write(bytes, to: file(name)) }
  }
}
