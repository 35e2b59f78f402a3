import Glibc

/// A user of this machine, and what the system lets them do with files: by owner, group and mode, along the whole path.
///
/// Access lists and the powers of services' units (`CAP_DAC_OVERRIDE`, `BindPaths`) are not looked at.
package struct SystemUser: Sendable {
  /// As sentences call the user.
  let name: String
  let id: uid_t
  let groups: Set<gid_t>

  /// - Parameter name: of the user, or their number: a number that no user has owns nothing, as a user has that systemd makes up
  ///   for a service (`DynamicUser`).
  /// - Throws: ``FileError`` if there is no such user.
  package init(_ name: String) throws(FileError) {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    if let number = uid_t(name) {
      getpwuid_r(number, &entry, &buffer, buffer.count, &found)
    } else {
      getpwnam_r(name, &entry, &buffer, buffer.count, &found)
    }
    guard found != nil else {
      guard let number = uid_t(name) else {
        throw FileError(
          "There is no user \(name) on this machine. A unit with DynamicUser=yes gets its user when it starts: for that one "
            + "write a number that nobody has, such as 61184.")
      }
      self.init(name: "user \(number)", id: number, groups: [number])
      return
    }
    self.init(name: String(cString: entry.pw_name), id: entry.pw_uid, groups: Self.groups(of: entry))
  }

  init(name: String, id: uid_t, groups: Set<gid_t>) {
    self.name = name
    self.id = id
    self.groups = groups
  }

  private static func groups(of entry: passwd) -> Set<gid_t> {
    var count: Int32 = 256
    var list = [gid_t](repeating: 0, count: Int(count))
    guard getgrouplist(entry.pw_name, entry.pw_gid, &list, &count) >= 0 else { return [entry.pw_gid] }
    return Set(list.prefix(Int(count)))
  }

  /// What keeps the user from reading a file; nil if nothing does, or if there is no such file.
  func obstacle(reading path: String) -> String? {
    guard let mode = FileOwnership(path) else { return nil }
    return folderObstacle(above: path) ?? (allows(mode, bit: 4) ? nil : "\(path) belongs to \(mode.words)")
  }

  /// What keeps the user from making files in a folder, or from making the folder; nil if nothing does.
  func obstacle(writing folder: String) -> String? {
    var folder = folder
    while FileOwnership(folder) == nil, let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
      folder = String(folder[..<slash])
    }
    guard let mode = FileOwnership(folder) else { return nil }
    let isOpen = allows(mode, bit: 2) && allows(mode, bit: 1)
    return folderObstacle(above: folder) ?? (isOpen ? nil : "\(folder) belongs to \(mode.words)")
  }

  /// The first folder on the way that the user may not pass: on the path as it is written, and on the one that its links lead to.
  private func folderObstacle(above path: String) -> String? {
    var ways = [path]
    if let real = realpath(path, nil) {
      ways.append(String(cString: real))
      free(real)
    }
    for way in ways {
      for index in way.indices where way[index] == "/" {
        let folder = index == way.startIndex ? "/" : String(way[..<index])
        if let mode = FileOwnership(folder), !allows(mode, bit: 1) {
          return "the way there leads through \(folder), which belongs to \(mode.words)"
        }
      }
    }
    return nil
  }

  /// - Parameter bit: of one of the three: 4 to read, 2 to write, 1 to run or to pass.
  private func allows(_ mode: FileOwnership, bit: mode_t) -> Bool {
    if id == 0 { return true }
    if mode.owner == id { return mode.bits & (bit << 6) != 0 }
    return mode.bits & (groups.contains(mode.group) ? bit << 3 : bit) != 0
  }
}

/// Who a file belongs to, and who may use it.
struct FileOwnership {
  let owner: uid_t
  let group: gid_t
  let bits: mode_t

  /// Of what a path leads to; nil if that is nothing.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (owner, group, bits) = (status.st_uid, status.st_gid, status.st_mode & 0o7777)
  }

  /// As a sentence says it: `user 0 and group 0, with mode 0640`.
  var words: String {
    let octal = String(bits, radix: 8)
    return "user \(owner) and group \(group), with mode \(String(repeating: "0", count: max(0, 4 - octal.count)))\(octal)"
  }
}
