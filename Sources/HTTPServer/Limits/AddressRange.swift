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
