import TreeModel

/// A request's URI, cut at its `?`.
package struct RequestTarget: Sendable {
  /// Percent-encoded, with its leading slash.
  package let path: [UInt8]
  package let query: QueryString

  /// Takes a URI apart; an absolute one (`http://host/path`, as proxies send it) loses its scheme and host.
  ///
  /// - Returns: nil if it is no path, or its query is not percent-encoded UTF-8.
  package init?(_ uri: String) {
    var uri = uri
    let parts: (path: [UInt8], query: QueryString?)? = uri.withUTF8 { utf8 in
      let bytes = UnsafeRawBufferPointer(utf8)
      guard let start = Self.pathStart(bytes) else { return nil }
      guard let mark = bytes.first(UInt8(ascii: "?"), from: start) else { return (Array(bytes[start...]), QueryString()) }
      return (Array(bytes[start..<mark]), QueryString(parsing: bytes[(mark + 1)...]))
    }
    guard let parts, let query = parts.query else { return nil }
    path = parts.path
    self.query = query
  }

  /// The path of a URI, as ``init(_:)`` takes it, without a look at the query; nil if it has none.
  package static func path(of uri: String) -> [UInt8]? {
    var uri = uri
    return uri.withUTF8 { utf8 in
      let bytes = UnsafeRawBufferPointer(utf8)
      guard let start = pathStart(bytes) else { return nil }
      return Array(bytes[start..<(bytes.first(UInt8(ascii: "?"), from: start) ?? bytes.count)])
    }
  }

  /// The path's segments, decoded, without empty ones; nil if they are not percent-encoded UTF-8.
  package var segments: [String]? { Self.segments(of: path) }

  /// A path of this form as ``segments``.
  package static func segments(of path: [UInt8]) -> [String]? {
    path.withUnsafeBytes { bytes in
      var segments: [String] = []
      for piece in bytes.split(separator: UInt8(ascii: "/")) {
        guard let text = PercentDecoding.text(piece) else { return nil }
        segments.append(text)
      }
      return segments
    }
  }

  /// Where the path begins: behind `scheme://host` if the URI is absolute; nil if it is neither.
  private static func pathStart(_ uri: UnsafeRawBufferPointer) -> Int? {
    if uri.first == UInt8(ascii: "/") { return 0 }
    let isLetter = { (byte: UInt8) in byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") }
    guard let colon = uri.first(UInt8(ascii: ":")), uri[colon...].starts(with: "://".utf8), colon > 0,
      uri[..<colon].allSatisfy(isLetter)
    else { return nil }
    let query = uri.first(UInt8(ascii: "?"), from: colon + 3) ?? uri.count
    return min(uri.first(UInt8(ascii: "/"), from: colon + 3) ?? query, query)
  }
}
