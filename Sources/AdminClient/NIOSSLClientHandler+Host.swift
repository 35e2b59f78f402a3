import NIOSSL

extension NIOSSLClientHandler {
  /// A client of the host, whose certificate must be for it. Names are told to the server; an address is only verified.
  convenience init(context: NIOSSLContext, host: String) throws {
    do {
      try self.init(context: context, serverHostname: host)
    } catch let error as NIOSSLExtraError where error == .cannotUseIPAddressInSNI {
      try self.init(context: context, serverHostname: nil)
    }
  }
}
