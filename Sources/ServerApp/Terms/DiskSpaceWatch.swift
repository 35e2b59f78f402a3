import AdminAPI
import Glibc
import StorageCore
import Synchronization

/// Waits, where a writer found its disk full, until there is room for the next.
///
/// A disk that fills up at once again is tried more and more seldom: players would be thrown off for nothing each time.
final class DiskSpaceWatch: Sendable {
  /// How often it looks, in milliseconds.
  static let interval: Int64 = 2000
  /// Looks at a disk that is full, from one term's end to the next one's, at most: a minute's.
  static let pauseMax = 30
  /// A term that went on for so many looks (10 minutes) was a good one.
  static let goodLooks = 300

  private let clock: any WallClock
  private let hasSpace: @Sendable () -> Bool
  /// Looks at a full disk before the next term begins.
  private let pause = Mutex(0)

  /// - `hasSpace`: whether a server could write again; asked only while the writer cannot.
  init(clock: any WallClock, hasSpace: @escaping @Sendable () -> Bool) {
    self.clock = clock
    self.hasSpace = hasSpace
  }

  /// Returns when a writer that found its disk full would find room.
  ///
  /// - `failure`: why the writer has stopped, if it has. Only a full disk mends itself: after another error a person has to look.
  /// - Throws: `CancellationError`
  func wait(after failure: () -> StorageError?) async throws {
    var (good, full) = (0, 0)
    while true {
      if failure()?.code == .full {
        full += 1
        let pause = good >= Self.goodLooks ? 0 : self.pause.withLock(\.self)
        if full > pause, hasSpace() { break }
      } else {
        good += 1
      }
      try await clock.sleep(until: clock.now() + Self.interval)
    }
    pause.withLock { $0 = good >= Self.goodLooks ? 0 : min(2 * $0 + 1, Self.pauseMax) }
  }
}

extension DiskSpaceWatch {
  /// What has to be free before a server goes on, in bytes: what its log may take before it is moved into the store.
  private static let bytesMin: Int64 = 32 << 20
  /// What is taken for a try, in bytes. A quota does not show in what is free.
  private static let tryBytes = 8 << 20

  /// Whether a server could write in a folder again.
  static func hasSpace(in folder: String) -> Bool {
    guard let space = DiskSpace(of: folder), space.freeBytes >= bytesMin else { return false }
    let name = folder + "/.space"
    let file = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    unlink(name)
    return posix_fallocate(file, 0, off_t(tryBytes)) == 0
  }
}
