import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension HTTPServerError {
  /// What keeps a server from listening, in a sentence that fits the cause.
  init(binding error: any Error, host: String, port: Int) {
    let why: String
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE:
      why = "another program listens there. Stop it, or choose another port (--port, or \"listen\" in the configuration)."
    case EACCES, EPERM:
      why =
        "this user may not open that port. Choose one from 1024 on, or give the program the capability CAP_NET_BIND_SERVICE, as "
        + "Examples/doubloon.service does."
    case EADDRNOTAVAIL:
      why = "this machine has no such address. Name one of its own, 127.0.0.1 for itself alone, or 0.0.0.0 for all it has."
    case nil where error is SocketAddressError:
      why = "no address is known for that name. Name an address of this machine, or localhost."
    default: why = "\(error)."
    }
    self.init("Cannot listen on \(host):\(port): \(why)")
  }
}
