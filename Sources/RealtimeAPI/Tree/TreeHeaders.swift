import HTTPServer
import NIOHTTP1

/// The headers that mean something to the tree's requests, found in one walk.
///
/// Looking each up by name would compare every header with every name; this compares by length first.
struct TreeHeaders {
  private(set) var host: String?
  private(set) var authorization: String?
  private(set) var methodOverride: String?
  /// `X-Firebase-ETag: true`.
  private(set) var wantsETag = false
  /// The data hash in `if-match`; empty for `null_etag`, which expects absence.
  private(set) var ifMatch: String?
  private(set) var ifNoneMatch: String?
  private(set) var idempotencyKey: String?
  /// `X-Doubloon-Wait: effects`.
  private(set) var waitsForEffects = false
  /// A value of `X-Doubloon-Wait` that means nothing.
  private(set) var unknownWait: String?
  private(set) var requestID: String?
  /// Whether the client accepts `text/event-stream`.
  private(set) var wantsStream = false

  init(_ headers: HTTPHeaders) {
    for (name, value) in headers {
      switch name.utf8.count {
      case 4: if name.isHeader("host") { host = value }
      case 6: if name.isHeader("accept") { wantsStream = value.lowercased().contains("text/event-stream") }
      case 8: if name.isHeader("if-match") { ifMatch = ETag.hash(in: value) }
      case 12: if name.isHeader("x-request-id") { requestID = value }
      case 13:
        if name.isHeader("authorization") { authorization = value }
        if name.isHeader("if-none-match") { ifNoneMatch = ETag.hash(in: value) }
      case 15:
        if name.isHeader("x-firebase-etag") { wantsETag = value.lowercased() == "true" }
        if name.isHeader("idempotency-key") { idempotencyKey = value }
        if name.isHeader("x-doubloon-wait") { wait(value) }
      case 22: if name.isHeader("x-http-method-override") { methodOverride = value }
      default: break
      }
    }
  }

  private mutating func wait(_ value: String) {
    if value.lowercased() == "effects" { waitsForEffects = true } else { unknownWait = value }
  }

  /// What stands behind `Bearer`.
  var bearer: String? { authorization.flatMap(HTTPHeaders.bearer) }
}

extension String {
  /// Whether this is the header of that name, which is given in lower case; both have the same length.
  fileprivate func isHeader(_ name: StaticString) -> Bool {
    let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    for (a, b) in zip(utf8, bytes) {
      let lower = a >= UInt8(ascii: "A") && a <= UInt8(ascii: "Z") ? a | 0x20 : a
      if lower != b { return false }
    }
    return true
  }
}
