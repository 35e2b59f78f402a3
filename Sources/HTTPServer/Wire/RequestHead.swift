package import NIOHTTP1
import TextFormats
import TreeModel

/// A request's target and headers, as they came.
///
/// Of a request that ``CommonRequest`` read the bytes are kept, in one piece, and texts are made of what is asked for: most
/// headers of most requests are never looked at.
package struct RequestHead: Sendable {
  private enum Form: Sendable {
    /// The target, the version, and behind them the header lines, each with its line break: shaped as ``CommonRequest`` says.
    case lines([UInt8], targetBytes: Int)
    /// What NIO's decoder made of it.
    case fields(uri: String, headers: HTTPHeaders)
  }

  /// What stands between the target and the first header.
  static let version: StaticString = " HTTP/1.1\r\n"

  private let form: Form

  /// - `lines`: from the target to the last header's line break, as ``CommonRequest`` has checked them.
  init(lines: UnsafeRawBufferPointer, targetBytes: Int) {
    form = .lines(Array(lines), targetBytes: targetBytes)
  }

  init(uri: String, headers: HTTPHeaders) {
    form = .fields(uri: uri, headers: headers)
  }

  /// The request target: path and query, percent-encoded.
  package var uri: String { withTarget { String(decoding: $0, as: UTF8.self) } }

  /// All headers, in order; made again at each look.
  package var headers: HTTPHeaders {
    if case .fields(_, let headers) = form { return headers }
    var list: [(String, String)] = []
    forEachHeader { name, value in
      list.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    return HTTPHeaders(list)
  }

  /// The value of the first header of this name, which is given in lower case; nil if there is none.
  package func first(_ name: StaticString) -> String? {
    var value: String?
    forEachHeader { if value == nil, $0.isSame(ignoringCase: name) { value = String(decoding: $1, as: UTF8.self) } }
    return value
  }

  /// Calls `body` with the bytes of the target.
  package func withTarget<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch form {
    case .lines(let bytes, let targetBytes):
      return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<targetBytes])) }
    case .fields(var uri, _): return uri.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
  }

  /// Calls `body` with each header's name, in whatever case it came, and its value, in order; no texts are made.
  package func forEachHeader(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
    switch form {
    case .lines(let bytes, let targetBytes):
      bytes.withUnsafeBytes { Self.forEachLine($0, from: targetBytes + Self.version.utf8CodeUnitCount, body) }
    case .fields(_, let headers):
      for (var name, var value) in headers {
        name.withUTF8 { name in value.withUTF8 { body(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer($0)) } }
      }
    }
  }

  private static func forEachLine(
    _ bytes: UnsafeRawBufferPointer, from first: Int, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
  ) {
    var start = first
    // Every line has its colon, a value that is not empty, and its break.
    while let colon = bytes.first(UInt8(ascii: ":"), from: start), let end = bytes.first(UInt8(ascii: "\r"), from: colon) {
      var value = colon + 1
      while bytes[value] == UInt8(ascii: " ") { value += 1 }
      body(UnsafeRawBufferPointer(rebasing: bytes[start..<colon]), UnsafeRawBufferPointer(rebasing: bytes[value..<end]))
      start = end + 2
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes are a text, which is given in lower case, whatever their own case (ASCII).
  package func isSame(ignoringCase text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for (index, byte) in enumerated() where Self.lowercased(byte) != text.utf8Start[index] { return false }
    return true
  }

  /// Whether a text, which is given in lower case, stands somewhere in these bytes, whatever their own case (ASCII).
  package func contains(ignoringCase text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard count >= length else { return false }
    return (0...(count - length)).contains { start in
      UnsafeRawBufferPointer(rebasing: self[start..<start + length]).isSame(ignoringCase: text)
    }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}

extension HTTPRequestHead {
  /// Settles which host is meant (RFC 9112 §3.2): the one that an absolute target names, whatever `Host` says beside it.
  ///
  /// - Returns: false if that is not one: two `Host` headers, of which a proxy may have read the other, or a target with a user or
  ///   without a host.
  mutating func settleHost() -> Bool {
    guard headers["host"].count < 2 else { return false }
    guard uri.utf8.first != UInt8(ascii: "/"), let authority = URLParts(uri).authority else { return true }
    guard let parts = URLAuthority(authority), parts.userInfo == nil, !parts.host.isEmpty else { return false }
    headers.replaceOrAdd(name: "host", value: String(authority))
    return true
  }

  /// Whether there is another coding below the chunks, which are taken off as the body is read: that would be kept as if it were
  /// the text (RFC 9112 §6.1). Codings without chunks at the end are refused by the decoder.
  var hasCodingBelowChunks: Bool {
    let codings = headers[canonicalForm: "transfer-encoding"]
    return codings.count > 1 && codings.last?.lowercased() == "chunked"
  }
}
