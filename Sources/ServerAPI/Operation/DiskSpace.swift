/// The disk that the data are on.
public struct DiskSpace: Sendable, Hashable {
  /// The folder.
  public let folder: String
  /// Bytes that the server can still write.
  public let freeBytes: Int64
  /// Bytes that the disk has in all.
  public let totalBytes: Int64

  public init(folder: String, freeBytes: Int64, totalBytes: Int64) {
    self.folder = folder
    self.freeBytes = freeBytes
    self.totalBytes = totalBytes
  }
}
