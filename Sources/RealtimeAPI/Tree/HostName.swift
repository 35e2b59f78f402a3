/// The namespace that a `Host` header stands for (spec: rtdb-protocol §2, addressing).
enum HostName {
  /// The first DNS label; nil for an address, `localhost` and any other name of one label.
  static func namespace(in host: String) -> Substring? {
    let bytes = host.utf8
    guard let first = bytes.first, first != UInt8(ascii: "[") else { return nil }
    let name = host[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)]
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), name.utf8.index(after: dot) < name.endIndex else {
      return nil
    }
    let isAddress = name.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
    return isAddress ? nil : name[..<dot]
  }
}
