import CMalloc
import StorageCore
import TreeDatabase

/// Gives memory back to the system after a flood, which the C library's allocator would keep for the next.
package struct MemoryReturn: Sendable {
  /// How often it looks, in milliseconds.
  private static let interval: Int64 = 2000
  /// Pieces of the store that nobody needed for so many looks are given back.
  private static let unusedLooks = 5
  /// A change of the process's memory that is worth the work.
  private static let worthBytes = 16 << 20
  /// How often it is tried after a change: what was allocated by a flood may be in use for a while.
  private static let triesMax = 20

  let clock: any WallClock
  /// Where pieces of the store are kept in memory.
  let database: Database

  /// Before anything large is allocated.
  package static func prepare() { cmalloc_give_large_pieces_back() }

  /// Looks every two seconds, until the task is cancelled.
  @Sendable func run() async throws {
    var settled = Int(cmalloc_resident_bytes())
    var tries = 0
    while true {
      try await clock.sleep(until: clock.now() + Self.interval)
      if abs(Int(cmalloc_resident_bytes()) - settled) >= Self.worthBytes { tries = Self.triesMax }
      guard tries > 0 else { continue }
      tries -= 1
      if tries % Self.unusedLooks == 0 { database.releaseUnusedMemory() }
      cmalloc_trim()
      settled = Int(cmalloc_resident_bytes())
    }
  }
}
