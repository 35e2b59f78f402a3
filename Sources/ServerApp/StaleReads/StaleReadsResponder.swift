import HTTPServer
import NIOCore
import NIOHTTP1
import RealtimeAPI
import TreeModel

/// Answers at the port for stale reads: GET, HEAD and OPTIONS for the tree, `/healthz` and `/readyz`.
///
/// `Cache-Control: max-age=N` in a request is obeyed (RFC 9111, 5.2.1.1): what may be older than N seconds is refused with 503.
struct StaleReadsResponder: RequestResponder {
  let source: StaleReadsSource

  func respond(to request: HTTPRequest, sink: ResponseSink) {
    guard let target = RequestTarget(request.head) else {
      return sink.send(.error(.badRequest, message: "The URL is not valid: it must begin with / and be percent-encoded UTF-8."))
    }
    guard TreeAddress.isTree(target.path) else {
      switch String(decoding: target.path, as: UTF8.self) {
      case "/healthz": return sink.send(.json(["status": "ok"]))
      case "/readyz": return sink.send(readiness)
      default:
        return sink.send(
          .error(.notFound, message: "Here the tree is read, as /<path>.json; everything else is at the clients' port."))
      }
    }
    guard [.GET, .OPTIONS].contains(request.method) else { return sink.send(Self.readsOnly) }
    answer(request, target, sink: sink)
  }

  private func answer(_ request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) {
    let eventLoop = sink.eventLoop
    let answer = source.answer { [self] in eventLoop.execute { self.answer(request, target, sink: sink) } }
    switch answer {
    case .held: return
    case .none: sink.send(Self.unavailable("This node has nothing to answer from. Try another, or again in a moment."))
    case .from(let content, let age):
      var sink = sink
      if let age {
        let seconds = (age + 999) / 1000
        if let wanted = Self.ageWanted(by: request), seconds > wanted {
          return sink.send(
            Self.unavailable("This node's copy may be \(seconds) seconds old. Try another node, or again in a moment."))
        }
        source.noteAnswer()
        sink.newestAt = .now() - .milliseconds(age)
      }
      content.routes.respond(to: request, target, sink: sink)
    }
  }

  /// How old an answer may be, in seconds; nil where the request does not say.
  private static func ageWanted(by request: HTTPRequest) -> Int64? {
    guard request.head.first("cache-control") != nil else { return nil }
    return request.headers[canonicalForm: "cache-control"].lazy.compactMap { directive -> Int64? in
      let parts = directive.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmed.lowercased() == "max-age" else { return nil }
      return Int64(parts[1].trimmed)
    }.min()
  }

  private static let readsOnly = HTTPResponse.error(
    .methodNotAllowed, message: "Here the tree is read; write at the clients' port of any node."
  ).adding("Allow", value: "GET, HEAD, OPTIONS")

  private static func unavailable(_ message: String) -> HTTPResponse {
    .error(.serviceUnavailable, message: message).adding("Retry-After", value: "1")
  }

  private var readiness: HTTPResponse {
    source.isReady
      ? .json(["status": "ready"])
      : .json(
        [
          "status": "not ready",
          "reasons": ["This node has no word from PostgreSQL, and no working copy that was compared within the last hour."],
        ], status: .serviceUnavailable)
  }

  /// Reads bring no bodies; some clients send an empty one all the same.
  var openBytesMax: Int { 1 << 10 }

  func bodyLimit(for head: HTTPRequestHead) -> BodyLimit? { BodyLimit(bytesMax: openBytesMax, refusal: Self.readsOnly) }

  func standing(of head: HTTPRequestHead) -> ClientStanding {
    guard let content = source.content, let target = RequestTarget(head.uri) else { return .unauthenticated }
    return (try? content.callers.caller(head.headers, query: target.query))?.standing ?? .unauthenticated
  }
}

extension Substring {
  /// Without blanks around it.
  fileprivate var trimmed: Substring {
    var text = self
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
