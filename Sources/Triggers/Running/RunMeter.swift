#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What measures runs. Not the server's clock, which has only milliseconds and may be moved.
package protocol RunMeter: Sendable {
  /// Nanoseconds since some moment; never goes back.
  func elapsed() -> Int64
  /// Nanoseconds that the calling thread has computed.
  func threadTime() -> Int64
}

/// The machine's own.
package struct SystemRunMeter: RunMeter {
  package init() {}

  package func elapsed() -> Int64 { Self.read(CLOCK_MONOTONIC) }

  package func threadTime() -> Int64 { Self.read(CLOCK_THREAD_CPUTIME_ID) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Which thread this is.
enum ThreadIdentity {
  /// The calling thread's number: no other thread that lives has it, and it is never zero.
  static var current: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}

/// Whether somebody looks at this process with a debugger: then it may stand still for as long as that takes.
enum Debugger {
  static var isAttached: Bool {
    #if os(Linux)
      guard let file = fopen("/proc/self/status", "r") else { return false }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("TracerPid:") { return !text.dropFirst(10).allSatisfy { $0.isWhitespace || $0 == "0" } }
      }
    #endif
    return false
  }
}
