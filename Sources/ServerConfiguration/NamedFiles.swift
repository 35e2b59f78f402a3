import Glibc

/// A file or folder that a configuration names.
struct NamedFile: Sendable {
  /// Where the configuration does so.
  let position: ConfigurationError.Position
  /// How the setting is called: `tls[0].key`.
  let setting: String
  /// From the root of the file system.
  let path: String
}

extension ServeConfiguration {
  /// What keeps a user from serving with this configuration: files that the user cannot read, and data that the user cannot write.
  /// Each as `FILE:LINE:COLUMN: text`, in the order of the file.
  ///
  /// What systemd hands over as a credential is the service's own by then, and not looked at.
  ///
  /// - Parameter file: the configuration itself, as it was named.
  package func obstacles(for user: SystemUser, file: String) -> [String] {
    var found: [String] = []
    if let obstacle = user.obstacle(reading: FileBytes.absolute(file)) {
      found.append("\(file):1:1: \(user.name) cannot read the configuration: \(obstacle).")
    }
    for named in namedFiles.sorted(by: { $0.position < $1.position }) {
      let obstacle: String?
      let verb: String
      if named.setting == "data" {
        (verb, obstacle) = ("write", user.obstacle(writing: named.path))
      } else {
        (verb, obstacle) = ("read", Self.readingObstacle(for: user, path: named.path))
      }
      guard let obstacle else { continue }
      let line = ConfigurationError(
        at: named.position, "\"\(named.setting)\": \(user.name) cannot \(verb) \(named.path): \(obstacle).")
      found.append("\(file):\(line)")
    }
    return found
  }

  /// A folder is read with all files in it.
  private static func readingObstacle(for user: SystemUser, path: String) -> String? {
    if let obstacle = user.obstacle(reading: path) { return obstacle }
    guard FileBytes.isFolder(path), let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.first != ".", let obstacle = user.obstacle(reading: "\(path)/\(name)") { return obstacle }
    }
    return nil
  }
}
