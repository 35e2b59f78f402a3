import Foundation
import HTTPServer
import ServerTestSupport
import Testing

@testable import WebConsole

/// The web client of in-app messages on the wire; what it does is tried in a browser.
struct WebMessagesTests {
  @Test("A picture's address changes with its bytes, and its answer is kept for ever as nothing but a picture")
  func images() {
    let images = MessageImages([("chest.png", "image/png", [1, 2, 3]), ("same.gif", "image/gif", [1, 2, 3])])
    let other = MessageImages([("chest.png", "image/png", [1, 2, 4])])
    #expect(images.images.map(\.path) != other.images.map(\.path))
    let path = "/messages/images/039058c6f2c0cb49/chest.png"
    #expect(images.images.first?.path == path && images[path]?.bytes == [1, 2, 3])
    for path in ["/messages/images/0/chest.png", "/messages/images/../images/039058c6f2c0cb49/chest.png", "\(path)/", ""] {
      #expect(images[path] == nil, "\(path)")
    }
    let headers = images[path]?.response.headers.map { "\($0.name): \($0.value)" } ?? []
    #expect(headers.contains("Content-Type: image/png") && headers.contains("X-Content-Type-Options: nosniff"))
    #expect(headers.contains("Cache-Control: public, max-age=31536000, immutable"))
  }

  private static let folder = "Sources/CConsoleAssets/messages"

  @Test("Every file of the client is in the program, no larger than 12 KiB, for pages of every origin")
  func files() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let names = try FileManager.default.contentsOfDirectory(atPath: root.path + "/" + Self.folder).sorted()
    #expect(WebMessages().names == names)
    try await APIServer.run { server in
      for name in names {
        let bytes = try Data(contentsOf: root.appendingPathComponent("\(Self.folder)/\(name)"))
        #expect(bytes.count <= 12_288, "\(name)")
        let answer = try await server.send("GET", "/messages/\(name)", headers: ["Origin": "https://game.example.com"])
        #expect(answer.status == 200 && answer.body == String(decoding: bytes, as: UTF8.self))
        #expect(answer["content-type"]?.hasPrefix(name.hasSuffix(".css") ? "text/css" : "application/javascript") == true)
        #expect(answer["access-control-allow-origin"] == "*")
        #expect(answer["cross-origin-resource-policy"] == "cross-origin")
        #expect(answer["cache-control"] == "public, max-age=3600")
        #expect(answer["set-cookie"] == nil)
        let etag = try #require(answer["etag"])
        let again = try await server.send("GET", "/messages/\(name)", headers: ["If-None-Match": etag])
        #expect(again.status == 304 && again.body.isEmpty)
      }
      #expect(try await server.send("POST", "/messages/client.js", "x").status == 405)
      for path in ["/messages/other.js", "/messages/a/client.js", "/messages/..%2Fclient.js"] {
        #expect(try await server.send("GET", path).status == 404, "\(path)")
      }
    }
  }
}
