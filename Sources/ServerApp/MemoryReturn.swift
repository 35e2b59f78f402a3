import CMalloc
import StorageCore

/// Gives memory back to the system after a flood, which the C library's allocator would keep for the next.
struct MemoryReturn: Sendable {
  /// How often it looks, in milliseconds.
  private static let interval: Int64 = 10_000
  /// Free bytes more than after the last time that are worth the work.
  private static let worthBytes = 16 << 20

  let clock: any WallClock

  /// Before anything large is allocated.
  static func prepare() { cmalloc_give_large_pieces_back() }

  /// Looks every ten seconds, until the task is cancelled.
  @Sendable func run() async throws {
    var free = Int(cmalloc_free_bytes())
    while true {
      try await clock.sleep(until: clock.now() + Self.interval)
      let now = Int(cmalloc_free_bytes())
      guard now >= free + Self.worthBytes else {
        free = min(free, now)
        continue
      }
      cmalloc_trim()
      // What was given back still counts as free.
      free = Int(cmalloc_free_bytes())
    }
  }
}
