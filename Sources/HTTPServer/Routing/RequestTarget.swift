import TextFormats
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
    guard let target = uri.withUTF8({ RequestTarget(UnsafeRawBufferPointer($0)) }) else { return nil }
    self = target
  }

  /// As above, of a request's own bytes.
  package init?(_ head: RequestHead) {
    guard let target = head.withTarget({ RequestTarget($0) }) else { return nil }
    self = target
  }

  private init?(_ bytes: UnsafeRawBufferPointer) {
    guard let ranges = URLRanges(requestTarget: bytes) else { return nil }
    guard let query = ranges.query.map({ QueryString(parsing: bytes[$0]) }) ?? QueryString() else { return nil }
    path = Array(bytes[ranges.path])
    self.query = query
  }

  /// The path of a request, as the initializers take it, without a look at the query; nil if it has none.
  package static func path(of head: RequestHead) -> [UInt8]? {
    head.withTarget { bytes in URLRanges(requestTarget: bytes).map { Array(bytes[$0.path]) } }
  }

  /// The path's segments, decoded, without empty ones; nil if they are not percent-encoded UTF-8.
  package var segments: [String]? { Self.segments(of: path) }

  /// A path of this form as ``segments``.
  package static func segments(of path: [UInt8]) -> [String]? {
    path.withUnsafeBytes { bytes in
      var segments: [String] = []
      for piece in bytes.split(separator: UInt8(ascii: "/")) {
        guard let text = PercentEncoding.decode(UnsafeRawBufferPointer(rebasing: piece)) else { return nil }
        segments.append(text)
      }
      return segments
    }
  }
}

/// The parameters behind the `?` of a URL, decoded, in order.
package struct QueryString: Sendable {
  package struct Parameter: Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var parameters: [Parameter] = []

  /// No parameters.
  package init() {}

  /// Reads `a=1&b=2`; a parameter without `=` has an empty value.
  ///
  /// - Returns: nil if something is not percent-encoded UTF-8.
  package init?(parsing form: some Collection<UInt8>) {
    guard let query = Array(form).withUnsafeBytes({ QueryString(parsing: $0[...]) }) else { return nil }
    self = query
  }

  /// As above, of bytes that are somewhere in memory.
  package init?(parsing bytes: Slice<UnsafeRawBufferPointer>) {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    var start = 0
    while start < bytes.count {
      let end = bytes.first(UInt8(ascii: "&"), from: start) ?? bytes.count
      defer { start = end + 1 }
      if start == end { continue }
      let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
      guard let name = PercentEncoding.decode(UnsafeRawBufferPointer(rebasing: bytes[start..<equals]), plusIsSpace: true),
        let value = PercentEncoding.decode(
          UnsafeRawBufferPointer(rebasing: bytes[min(equals + 1, end)..<end]), plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
  }

  /// The last parameter of this name.
  package subscript(name: String) -> String? {
    parameters.last { $0.name == name }?.value
  }
}
