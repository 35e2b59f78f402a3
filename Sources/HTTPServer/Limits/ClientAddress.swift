package import NIOCore
import NIOHTTP1

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The address of a client, as 128 bits: IPv4 addresses are those that IPv6 maps them to (RFC 4291 §2.5.5.2).
package struct ClientAddress: Sendable, Hashable, CustomStringConvertible {
  /// The first eight bytes.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A client that has no address: of a test, or over a local socket.
  package static let unknown = ClientAddress(high: 0, low: 0)

  /// Reads `192.0.2.7`, `2001:db8::7`, `[2001:db8::7]`, and the first two with a port as proxies write them.
  ///
  /// - Returns: nil for names and everything else.
  package init?(parsing text: some StringProtocol) {
    var text = String(text)
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return nil }
      text = String(text[text.index(after: text.startIndex)..<end])
    } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
      text = String(text.prefix { $0 != ":" })
    }
    var short = in_addr()
    if inet_pton(AF_INET, text, &short) == 1 {
      self.init(ipv4: short)
      return
    }
    var long = in6_addr()
    guard inet_pton(AF_INET6, text, &long) == 1 else { return nil }
    self.init(ipv6: long)
  }

  /// The address of a socket's other end; ``unknown`` if it has none.
  package init(_ address: SocketAddress?) {
    self =
      address?.withSockAddr { pointer, size in
        let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
        // Behind the family and the port stands the address; of IPv6, behind the flow's label.
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET where size >= 8: return ClientAddress(ipv4: bytes.loadUnaligned(fromByteOffset: 4, as: in_addr.self))
        case AF_INET6 where size >= 24: return ClientAddress(ipv6: bytes.loadUnaligned(fromByteOffset: 8, as: in6_addr.self))
        default: return .unknown
        }
      } ?? .unknown
  }

  private init(ipv4 address: in_addr) {
    self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(UInt32(bigEndian: address.s_addr)))
  }

  private init(ipv6 address: in6_addr) {
    let halves = withUnsafeBytes(of: address) { bytes in
      (bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }

  /// Whether it is an IPv4 address.
  package var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

  /// Whom limits take it for: of IPv6 the network of 64 bits, which one customer has whole.
  package var clientNetwork: ClientAddress { isIPv4 ? self : ClientAddress(high: high, low: 0) }

  /// Whether only a private network uses it: RFC 1918, RFC 6598, IPv6's unique local addresses. Loopback is not meant: there
  /// tests and tools are.
  package var isPrivate: Bool {
    guard isIPv4 else { return high >> 57 == 0x7E }
    let address = UInt32(truncatingIfNeeded: low)
    return address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8 || address >> 22 == 0x191
  }

  /// As it is usually written.
  package var description: String {
    guard !isIPv4 else { return [24, 16, 8, 0].map { String(low >> $0 & 0xFF) }.joined(separator: ".") }
    let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { String(half >> $0 & 0xFFFF, radix: 16) } }
    return groups.joined(separator: ":")
  }
}

/// Addresses that begin alike: `10.0.0.0/8`, `fd00::/8`, or one address.
package struct AddressRange: Sendable, Hashable {
  private let first: ClientAddress
  private let maskHigh: UInt64
  private let maskLow: UInt64

  /// Reads an address, or an address with the number of bits that count.
  ///
  /// - Returns: nil if it is neither.
  package init?(parsing text: String) {
    let halves = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(halves.count), let address = ClientAddress(parsing: halves[0]) else { return nil }
    var bits = 128
    if halves.count == 2 {
      let most = address.isIPv4 ? 32 : 128
      guard halves[1].utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(halves[1]), count <= most else { return nil }
      bits = count + 128 - most
    }
    maskHigh = bits >= 64 ? .max : bits == 0 ? 0 : ~(UInt64.max >> UInt64(bits))
    maskLow = bits <= 64 ? 0 : bits == 128 ? .max : ~(UInt64.max >> UInt64(bits - 64))
    first = ClientAddress(high: address.high & maskHigh, low: address.low & maskLow)
  }

  /// Whether the address is one of them.
  package func contains(_ address: ClientAddress) -> Bool {
    address.high & maskHigh == first.high && address.low & maskLow == first.low
  }
}

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
  /// - `peer`: who the connection is with.
  func client(of peer: ClientAddress, headers: @autoclosure () -> HTTPHeaders) -> ClientAddress {
    guard !ranges.isEmpty, isTrusted(peer) else { return peer }
    var client = peer
    let hops = headers()["x-forwarded-for"].flatMap { $0.split(separator: ",") }.suffix(Self.hopsMax)
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
