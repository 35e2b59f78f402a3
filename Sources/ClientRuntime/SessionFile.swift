import Foundation

/// Where the session of a signed-in player is kept between two runs of the app.
package protocol SessionStorage: Sendable {
  /// What was written last; nil if there is nothing, or nothing readable.
  func read() -> [UInt8]?
  /// Replaces what is there; nil removes it.
  func write(_ bytes: [UInt8]?) throws
}

/// A session in a file that only its owner may read (mode 0600), in a folder of mode 0700. A new content replaces the old one
/// whole, or not at all.
package struct SessionFile: SessionStorage {
  /// Bytes that a session may have; a longer file is none.
  static let bytesMax = 1 << 20

  /// Where it is.
  package let path: String

  package init(folder: String, name: String) { path = folder + "/" + name }

  package func read() -> [UInt8]? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }
    guard let data = try? handle.read(upToCount: Self.bytesMax + 1), data.count <= Self.bytesMax else { return nil }
    return Array(data)
  }

  package func write(_ bytes: [UInt8]?) throws {
    let files = FileManager.default
    guard let bytes else {
      if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
      return
    }
    let folder = (path as NSString).deletingLastPathComponent
    try files.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let draft = path + ".new"
    try? files.removeItem(atPath: draft)
    guard files.createFile(atPath: draft, contents: Data(bytes), attributes: [.posixPermissions: 0o600]) else {
      throw CocoaError(.fileWriteUnknown)
    }
    guard rename(draft, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}

/// A session in memory: for tests, and for apps that want to be signed out at their next start.
package final class SessionMemory: SessionStorage {
  private let bytes = Locked<[UInt8]?>(nil)

  package init() {}

  package func read() -> [UInt8]? { bytes.copy }
  package func write(_ bytes: [UInt8]?) { self.bytes.withLock { $0 = bytes } }
}
