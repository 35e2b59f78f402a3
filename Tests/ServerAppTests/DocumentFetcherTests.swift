import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import ServerApp

@Suite struct DocumentFetcherTests {
  @Test("a document comes whole, with how long it may be kept; everything else is refused with a sentence")
  func fetching() async throws {
    let folder = TemporaryFolder()
    try folder.write(TestCertificates.authority, to: "ca.pem")
    let answer: @Sendable (TinyServer.Request) -> TinyServer.Answer = { request in
      switch request.uri {
      case "/keys?v=1":
        var answer = TinyServer.Answer.json(["keys": []])
        answer.headers = ["Cache-Control": "max-age=60"]
        return answer
      case "/moved":
        var answer = TinyServer.Answer(status: 302)
        answer.headers = ["Location": "https://localhost/keys"]
        return answer
      case "/big": return TinyServer.Answer(body: [UInt8](repeating: 0x20, count: DocumentFetcher.bytesMax + 1))
      case "/silence": return TinyServer.Answer(isSilent: true)
      case "/page": return TinyServer.Answer(body: Array("<html>".utf8))
      default: return TinyServer.Answer(status: 404)
      }
    }
    try await TinyServer.run(tls: try LocalIssuer.tls(), answer) { server in
      let base = server.address.replacing("http://127.0.0.1", with: "https://localhost")
      let fetcher = DocumentFetcher(authority: folder.file("ca.pem"))
      let document = try await fetcher.fetch(base + "/keys?v=1#x")
      #expect(document.json == ["keys": []] && document.cacheControl == "max-age=60")
      for (path, sentence) in [
        ("/moved", "redirects, which is not followed"), ("/none", "answered with status 404"), ("/page", "is no JSON"),
        ("/big", "is larger than"),
      ] {
        await #expect { _ = try await fetcher.fetch(base + path) } throws: { "\($0)".contains(sentence) }
      }
      let hasty = DocumentFetcher(authority: folder.file("ca.pem"), timeout: .milliseconds(200))
      await #expect { _ = try await hasty.fetch(base + "/silence") } throws: { ($0 as? AdminClientError)?.code == .timedOut }
      await #expect { _ = try await DocumentFetcher().fetch(base + "/keys?v=1") } throws: {
        ($0 as? AdminClientError)?.code == .untrusted
      }
      for url in ["http://localhost/keys", "keys", "https://", "https://u@h/x", "https://h/\u{FC}"] {
        await #expect(throws: AdminClientError.self) { _ = try await fetcher.fetch(url) }
      }
    }
  }
}
