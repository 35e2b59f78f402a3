#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A connection to a server on this machine. Requests are short, so writing waits; reading happens when there is something.
package struct Connection {
  package let descriptor: Int32
  /// What was read and not yet understood.
  package var input = Input()
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  package init(port: Int) throws {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    descriptor = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard descriptor >= 0, result == 0 else { throw BenchmarkError("nothing listens on port \(port): error \(errno)") }
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  package func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, bytes.count - sent) }
      guard count > 0 else { throw BenchmarkError("the server closed a connection in the middle of a request: error \(errno)") }
      sent += count
    }
  }

  /// Reads what has come; waits where nothing has.
  package mutating func receive() throws {
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { throw BenchmarkError("the server closed a connection: error \(errno)") }
    buffer.withUnsafeBytes { input.append(UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
  }
}

/// Seconds of a clock that only goes forward.
package func seconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Milliseconds since 1970.
package func milliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
