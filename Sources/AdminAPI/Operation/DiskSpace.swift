/// The disk that the data are on.
package struct DiskSpace: Sendable, Hashable {
  /// The folder.
  package let folder: String
  /// Bytes that the server can still write.
  package let freeBytes: Int64
  /// Bytes that the disk has in all.
  package let totalBytes: Int64

  package init(folder: String, freeBytes: Int64, totalBytes: Int64) {
    self.folder = folder
    self.freeBytes = freeBytes
    self.totalBytes = totalBytes
  }
}
