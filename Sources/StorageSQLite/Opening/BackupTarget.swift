#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Where a backup is to be put: whether it may take the place of what is there.
///
/// A wrong path must cost nobody a file: an administrator's order reaches everything that the server's user can write. So a
/// backup replaces only an earlier backup, open or sealed, and never the store of a data folder.
package enum BackupTarget {
  /// How the files begin that a backup may replace: those of SQLite, and of `doubloon backup`.
  private static let beginnings = ["SQLite format 3\0", "DoubloonBackup1\n"].map { Array($0.utf8) }

  /// Why a backup may not be put there, as a sentence that says what to do; nil if it may.
  ///
  /// - Parameter path: a file, new or old, after links were followed.
  package static func objection(to path: String) -> String? {
    guard FileCalls.exists(path) else { return nil }
    guard !FileCalls.isSpecial(path) else {
      return "\(path) is there and no regular file; a backup does not replace it. Name a file, new or old."
    }
    guard !FileCalls.exists(FileCalls.folder(of: path) + "/" + DataFolder.lockName) else {
      return "\(path) is in the data folder of a server, where a backup could replace the store. Name a file in another folder."
    }
    // An empty one may have been made by mktemp, for this.
    let beginning = beginning(of: path)
    guard beginning?.isEmpty == true || beginnings.contains(where: { $0 == beginning }) else {
      return "\(path) is there and no backup; a backup replaces only an earlier one. Name another file, or remove this one."
    }
    return nil
  }

  /// The first 16 bytes, or fewer; nil where they cannot be read.
  private static func beginning(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes[..<count])
  }
}
