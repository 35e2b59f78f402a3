import AdminAPI
import Glibc

extension DiskSpace {
  /// Asks the system; nil if it does not say.
  init?(of folder: String) {
    var facts = statvfs()
    guard statvfs(folder, &facts) == 0 else { return nil }
    // What is kept back for root is not free for a server.
    self.init(
      folder: folder, freeBytes: Self.bytes(facts.f_bavail, facts.f_frsize),
      totalBytes: Self.bytes(facts.f_blocks, facts.f_frsize))
  }

  private static func bytes(_ blocks: UInt, _ size: UInt) -> Int64 {
    let (product, overflows) = blocks.multipliedReportingOverflow(by: size)
    return overflows ? .max : Int64(clamping: product)
  }
}
