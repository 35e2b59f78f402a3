#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The machine's clock.
public struct SystemClock: WallClock {
  public init() {}

  public func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  public func sleep(until time: Int64) async throws {
    let wait = time - now()
    if wait > 0 { try await Task.sleep(for: .milliseconds(wait)) }
  }
}
