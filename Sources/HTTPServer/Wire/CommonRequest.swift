import NIOHTTP1
import TreeModel

/// Reads the request that nearly every client sends, when all of it is there: a few times as fast as a parser that knows all of
/// HTTP.
///
/// What it takes is narrower than HTTP, and so narrow that NIO's decoder reads the same from it (`CommonRequestTests` compares
/// the two). Everything else is declined, be it wrong, unusual or not all there, and is NIO's decoder's: this parser never
/// refuses anything. It takes
///
/// - GET, PUT, PATCH, POST and DELETE of a path of visible ASCII, without `#`, in HTTP/1.1;
/// - lines that end in CR LF: a name of token characters, a colon, spaces, and a value of visible ASCII and single or several
///   spaces between, none at its end;
/// - no header that changes how the connection or the body is read (`Transfer-Encoding`, `Upgrade`, `Expect`,
///   `Proxy-Connection`, `Connection` but for `keep-alive`), and at most one `Content-Length`, of digits only, and one `Host`.
struct CommonRequest {
  /// How much a request may have to be read here.
  struct Limits {
    /// Bytes of the head, from the method to the blank line.
    let headBytesMax: Int
    let bodyBytesMax: Int
  }

  /// Headers that a request may have; NIO's decoder takes more.
  private static let headersMax = 100
  /// Digits of a length: no body here is longer than fits.
  private static let lengthDigitsMax = 9

  let method: HTTPMethod
  /// Where the target is.
  let target: Range<Int>
  /// Bytes of the head, with its blank line.
  private(set) var headBytes = 0
  /// Bytes of the body behind it.
  private(set) var bodyBytes = 0
  private var hasLength = false
  private var hasHost = false
  /// Whether its client gives it a name (``RequestID``); seen here at no cost, so that nobody looks for it in vain.
  private(set) var isNamed = false

  /// - `bytes`: what has arrived; there may be more behind the request.
  /// - Returns: nil if it declines.
  init?(_ bytes: UnsafeRawBufferPointer, limits: Limits) {
    guard let method = Self.method(bytes) else { return nil }
    self.method = method
    let start = method.rawValue.utf8.count + 1
    let end = min(bytes.count, limits.headBytesMax)
    var at = start
    while at < end, Self.isInTarget(bytes[at]) { at += 1 }
    target = start..<at
    guard start < at, bytes[start] == UInt8(ascii: "/"), Self.hasVersion(bytes, at: at) else { return nil }
    at += RequestHead.version.utf8CodeUnitCount
    for _ in 0...Self.headersMax {
      guard at + 1 < end else { return nil }
      if bytes[at] == UInt8(ascii: "\r") {
        guard bytes[at + 1] == UInt8(ascii: "\n") else { return nil }
        headBytes = at + 2
        break
      }
      guard let next = takeHeader(bytes, from: at, to: end) else { return nil }
      at = next
    }
    guard headBytes > 0, bodyBytes <= limits.bodyBytesMax, bodyBytes <= bytes.count - headBytes else { return nil }
  }

  private static func method(_ bytes: UnsafeRawBufferPointer) -> HTTPMethod? {
    // The shortest request that can be.
    guard bytes.count >= 18 else { return nil }
    func begins(_ text: StaticString) -> Bool {
      for index in 0..<text.utf8CodeUnitCount where bytes[index] != text.utf8Start[index] { return false }
      return true
    }
    switch bytes[0] {
    case UInt8(ascii: "G"): return begins("GET ") ? .GET : nil
    case UInt8(ascii: "P"):
      if begins("PUT ") { return .PUT }
      if begins("PATCH ") { return .PATCH }
      return begins("POST ") ? .POST : nil
    case UInt8(ascii: "D"): return begins("DELETE ") ? .DELETE : nil
    default: return nil
    }
  }

  private static func hasVersion(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
    let version = UnsafeRawBufferPointer(start: RequestHead.version.utf8Start, count: RequestHead.version.utf8CodeUnitCount)
    return UnsafeRawBufferPointer(rebasing: bytes[start...]).begins(with: version)
  }

  /// Reads one header line.
  ///
  /// - Returns: where the next line begins; nil if it declines.
  private mutating func takeHeader(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
    var at = start
    while at < end, Self.isInName(bytes[at]) { at += 1 }
    guard at > start, at < end, bytes[at] == UInt8(ascii: ":") else { return nil }
    let name = UnsafeRawBufferPointer(rebasing: bytes[start..<at])
    at += 1
    while at < end, bytes[at] == UInt8(ascii: " ") { at += 1 }
    let first = at
    while at < end, Self.isInValue(bytes[at]) { at += 1 }
    guard at > first, bytes[at - 1] != UInt8(ascii: " "), at + 1 < end, bytes[at] == UInt8(ascii: "\r"),
      bytes[at + 1] == UInt8(ascii: "\n"), accepts(name, value: UnsafeRawBufferPointer(rebasing: bytes[first..<at]))
    else { return nil }
    return at + 2
  }

  /// Looks at the headers that say how the connection and the body are read; false if it declines.
  private mutating func accepts(_ name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
    switch name.count {
    case 4:
      guard name.isSame(ignoringCase: "host") else { return true }
      defer { hasHost = true }
      return !hasHost
    case 6: return !name.isSame(ignoringCase: "expect")
    case 7: return !name.isSame(ignoringCase: "upgrade")
    case 10: return !name.isSame(ignoringCase: "connection") || value.isSame(ignoringCase: "keep-alive")
    case 12:
      if name.isSame(ignoringCase: "x-request-id") { isNamed = true }
      return true
    case 14: return !name.isSame(ignoringCase: "content-length") || takeLength(value)
    case 16: return !name.isSame(ignoringCase: "proxy-connection")
    case 17: return !name.isSame(ignoringCase: "transfer-encoding")
    default: return true
    }
  }

  private mutating func takeLength(_ value: UnsafeRawBufferPointer) -> Bool {
    guard !hasLength, value.count <= Self.lengthDigitsMax else { return false }
    hasLength = true
    for byte in value {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return false }
      bodyBytes = bodyBytes * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return true
  }

  private static func isInTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }

  private static func isInValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

  /// Whether a byte is one of a token (RFC 9110 §5.6.2): a set of bits for each half of ASCII.
  private static func isInName(_ byte: UInt8) -> Bool {
    let bits: UInt64 =
      switch byte >> 6 {
      case 0: 0x03FF_6CFA_0000_0000
      case 1: 0x57FF_FFFF_C7FF_FFFE
      default: 0
      }
    return bits >> UInt64(byte & 63) & 1 == 1
  }
}
