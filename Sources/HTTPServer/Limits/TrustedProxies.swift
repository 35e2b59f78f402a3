import NIOHTTP1

/// The proxies whose word counts for who the client is.
///
/// `X-Forwarded-For` is a list to which every proxy adds whom it talked to. Anybody can begin one, so it is read from its
/// end: the last address that no trusted proxy has is the client.
package struct TrustedProxies: Sendable, Hashable {
  /// Addresses that one header may hold; what is further from the end is not looked at.
  private static let hopsMax = 16

  private let ranges: [AddressRange]

  /// - Parameter ranges: the proxies' own addresses; none: the header is ignored.
  package init(_ ranges: [AddressRange] = []) {
    self.ranges = ranges
  }

  /// Who sent a request.
  ///
  /// - Parameter peer: who the connection is with.
  func client(of peer: ClientAddress, _ headers: HTTPHeaders) -> ClientAddress {
    guard !ranges.isEmpty, isTrusted(peer) else { return peer }
    var client = peer
    let hops = headers["x-forwarded-for"].flatMap { $0.split(separator: ",") }.suffix(Self.hopsMax)
    for hop in hops.reversed() {
      let text = hop.drop { $0 == " " }.prefix { $0 != " " }
      // What cannot be read was not written by a proxy that is trusted.
      guard let address = ClientAddress(parsing: text) else { return client }
      client = address
      guard isTrusted(address) else { return address }
    }
    return client
  }

  /// Whether an address is a proxy's.
  func isTrusted(_ address: ClientAddress) -> Bool { ranges.contains { $0.contains(address) } }
}
