import Backups
import ServerConfiguration
import StorageSQLite
import TextFormats

/// What a store is known by in all its copies, and what an earlier process left of copies that it was making.
enum StoreIdentity {
  private static let bytes = 16

  /// The identity of a store; the first server that opens it makes one up. Who only looks changes nothing.
  ///
  /// - Throws: `StorageError` if it cannot be read or kept.
  static func settled(of engine: SQLiteEngine, for configuration: ServerConfiguration) throws -> String {
    guard configuration.dispatchesFunctions else { return "" }
    // Nobody else has the folder open, and no backup is being made yet.
    if case .directory(let folder) = configuration.storage { BackupMaker.removeLeftovers(in: folder) }
    return try engine.identity(orDeclaring: {
      var random = SystemRandomNumberGenerator()
      return Hex.encode((0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) })
    })
  }
}
