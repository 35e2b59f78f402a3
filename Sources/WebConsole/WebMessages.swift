import CConsoleAssets
import Crypto
package import HTTPServer
import NIOHTTP1
import TextFormats

/// The web client of in-app messages: `/messages/client.js` and what it loads, and pictures. Pages of every origin may load them, as
/// games are elsewhere.
package struct WebMessages: RequestSurface {
  /// How long a browser uses a file without asking, in seconds.
  private static let age = 3600

  private struct File: Sendable {
    let content: HTTPResponse.Content
    let bytes: [UInt8]
    let etag: String
  }

  private let files: [String: File]
  private let images: MessageImages

  package init(images: MessageImages = MessageImages()) {
    self.images = images
    var files: [String: File] = [:]
    for index in 0..<Int(message_asset_count) {
      let asset = message_asset_at(index)
      guard let name = asset.name.map({ String(cString: $0) }) else { continue }
      let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
      files[name] = File(
        content: name.hasSuffix(".css") ? .css : .javaScript, bytes: bytes,
        etag: "\"\(Hex.encode(Array(SHA256.hash(data: bytes))).prefix(16))\"")
    }
    self.files = files
  }

  /// The files' names, for tests.
  package var names: [String] { files.keys.sorted() }

  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool {
    guard let path = target.segments, path.first == "messages" else { return false }
    let image = images["/" + path.joined(separator: "/")]
    let file = path.count == 2 ? files[String(path[1])] : nil
    guard image != nil || file != nil else { return false }
    var sink = sink
    sink.routeClass = .operation
    guard request.method == .GET else {
      sink.send(.empty(.methodNotAllowed, headers: [.init("Allow", "GET, HEAD")]))
      return true
    }
    if let image { sink.send(image.response) }
    if let file { Self.send(file, to: request, sink: sink) }
    return true
  }

  private static func send(_ file: File, to request: HTTPRequest, sink: ResponseSink) {
    let headers: [HTTPResponse.Header] = [
      .init("Cache-Control", "public, max-age=\(age)"), .init("ETag", file.etag),
      .init("Cross-Origin-Resource-Policy", "cross-origin"),
    ]
    if request.headers.first(name: "if-none-match") == file.etag {
      sink.send(.empty(.notModified, headers: headers))
    } else {
      sink.send(HTTPResponse(.ok, content: file.content, headers: headers, body: file.bytes))
    }
  }
}
