#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files of a store, as they are on the disk: to see what they hold, and what a process that died would leave.
public enum DiskFiles {
  private struct FileError: Error { let path: String }

  /// The bytes of a file; none if there is no such file.
  public static func bytes(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Whether a file holds a text.
  public static func holds(_ text: String, _ path: String) throws -> Bool {
    try bytes(path).firstRange(of: Array(text.utf8)) != nil
  }

  /// Copies the files of a folder into a new one.
  public static func copy(folder: String, to target: String) throws {
    guard mkdir(target, 0o700) == 0, let directory = opendir(folder) else { throw FileError(path: folder) }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "." || name == ".." { continue }
      guard let file = fopen("\(target)/\(name)", "w") else { throw FileError(path: name) }
      defer { fclose(file) }
      let bytes = try bytes("\(folder)/\(name)")
      guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw FileError(path: name) }
    }
  }
}

/// Who may read and write a file.
public enum FileMode {
  /// The lower nine bits; 0 if there is no such file.
  public static func of(_ path: String) -> UInt32 {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }
}
