import Crypto
import HTTPServer
import NIOHTTP1
import TextFormats

/// Pictures of in-app messages that the server itself hands out, each at `/messages/images/DIGEST/NAME`.
///
/// The digest is of the picture's bytes: another picture has another address, so that everybody may keep what they got for ever.
package struct MessageImages: Sendable {
  package struct Image: Sendable {
    package let name: String
    package let type: String
    /// The path of its address.
    package let path: String
    package let bytes: [UInt8]
  }

  package let images: [Image]
  private let byPath: [String: Image]

  /// - `files`: name, media type and bytes of each.
  package init(_ files: [(name: String, type: String, bytes: [UInt8])] = []) {
    images = files.map { name, type, bytes in
      let digest = Hex.encode(Array(SHA256.hash(data: bytes))).prefix(16)
      return Image(name: name, type: type, path: "/messages/images/\(digest)/\(name)", bytes: bytes)
    }
    byPath = Dictionary(images.map { ($0.path, $0) }) { first, _ in first }
  }

  /// The picture at a path; only what was there at the start is found.
  subscript(path: String) -> Image? { byPath[path] }
}

extension MessageImages.Image {
  /// The whole answer. A picture is nothing but a picture, whatever a browser finds in it.
  var response: HTTPResponse {
    HTTPResponse(
      .ok, content: .none,
      headers: [
        .init("Content-Type", type), .init("X-Content-Type-Options", "nosniff"),
        .init("Content-Security-Policy", "default-src 'none'"),
        .init("Cache-Control", "public, max-age=31536000, immutable"), .init("Cross-Origin-Resource-Policy", "cross-origin"),
      ], body: bytes)
  }
}
