import Testing

@testable import StorageSQLite

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
