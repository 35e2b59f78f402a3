#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder below the current one, on the disk that the data would be on: a file system in memory has no fsync to share.
package struct TemporaryFolder {
  package let path: String

  package init() throws {
    path = ".build/benchmark-\(getpid())"
    mkdir(".build", 0o755)
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw BenchmarkError("no folder could be made at \(path)") }
  }

  /// Removes the folder with the folders and files in it.
  package func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { remove(path + "/" + name) }
      }
      closedir(directory)
      rmdir(path)
    } else {
      unlink(path)
    }
  }
}
