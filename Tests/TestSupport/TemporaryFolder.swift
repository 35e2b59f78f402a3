#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder of a test's own, removed with everything in it when the value goes away.
public final class TemporaryFolder: Sendable {
  /// The folder's absolute path.
  public let path: String

  /// - Parameter isInMemory: whether it should be in memory, where the machine has a file system there: a disk answers an
  ///   fsync in its own time, which a test that opens hundreds of stores has no use for.
  public init(isInMemory: Bool = false) {
    let parent = isInMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/doubloon-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      preconditionFailure("No temporary folder could be made: \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Takes over a folder that is there already.
  public init(at path: String) {
    self.path = path
  }

  deinit { Self.remove(path) }

  /// The path of a file in the folder.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a text into a file of the folder.
  public func write(_ text: String, to name: String) throws {
    guard let file = fopen(self.file(name), "w") else { throw FolderError(name: name) }
    defer { fclose(file) }
    guard fputs(text, file) >= 0 else { throw FolderError(name: name) }
  }

  private struct FolderError: Error { let name: String }

  private static func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { remove("\(path)/\(name)") }
      }
      closedir(directory)
      rmdir(path)
    } else {
      unlink(path)
    }
  }
}
