import NIOCore
import NIOHTTP1
import AdminModel
import ServerTestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import DoubloonCLI

@Suite struct AdminClientTests {
  private func client(_ server: TinyServer, limits: AdminClient.Limits = AdminClient.Limits()) throws -> AdminClient {
    try AdminClient(server: server.address, token: "s3cret", limits: limits)
  }

  @Test("a request carries the token, the query and the body")
  func request() async throws {
    try await TinyServer.run({ .json(["echo": $0.json]) }) { server in
      let client = try client(server)
      let answer = try await client.post("/admin/v1/x", ["a": 1], query: [QueryItem("n s", "ü&=")], headers: ["X-A": "b"])
      #expect(answer == ["echo": ["a": 1]])
      let request = try #require(server.requests.first)
      #expect(request.method == .POST)
      #expect(request.uri == "/admin/v1/x?n%20s=%C3%BC%26%3D")
      #expect(request.headers["Authorization"] == ["Bearer s3cret"])
      #expect(request.headers["Content-Type"] == ["application/json"])
      #expect(request.headers["X-A"] == ["b"])
      #expect(request.headers["Host"] == [String(server.address.dropFirst(7))])
      await client.close()
    }
  }

  @Test("the tree that is meant is named with places in trees, and nowhere else")
  func meantTree() async throws {
    try await TinyServer.run({ _ in .json(true) }) { server in
      let client = try client(server)
      _ = try await client.get("/users/bob.json")
      client.mean(tree: "hunt-default-rtdb")
      _ = try await client.get("/users/bob.json")
      _ = try await client.get("/users/bob.json", query: [QueryItem("ns", "other")])
      _ = try await client.get("/admin/v1/status")
      let expected = [
        "/users/bob.json", "/users/bob.json?ns=hunt-default-rtdb", "/users/bob.json?ns=other", "/admin/v1/status",
      ]
      #expect(server.requests.map(\.uri) == expected)
      await client.close()
    }
  }

  @Test(
    "a host's name stands for a tree, an address and localhost do not",
    arguments: [
      ("https://game.example.com", true), ("http://hunt.test:9000", true), ("http://127.0.0.1:9000", false),
      ("http://localhost:9000", false), ("http://[::1]:9000", false), ("http://[::ffff:1.2.3.4]", false),
      ("http://host.", false),
    ])
  func namesTree(_ address: String, _ expected: Bool) throws {
    #expect(try ServerAddress(address).namesTree == expected)
  }

  @Test("connections are used again, unless told otherwise")
  func keepAlive() async throws {
    for (idleMax, expected) in [(4, 1), (0, 3)] {
      try await TinyServer.run({ _ in .json(true) }) { server in
        let client = try client(server, limits: AdminClient.Limits(idleConnectionsMax: idleMax))
        for _ in 0..<3 { _ = try await client.get("/a") }
        #expect(server.connectionCount == expected)
        await client.close()
      }
    }
  }

  @Test("a read is sent again if the kept connection broke; a write is not")
  func brokenConnection() async throws {
    try await TinyServer.run({ request in
      TinyServer.Answer(body: Array("true".utf8), hangsUp: request.headers.contains(name: "X-Hang-Up"))
    }) { server in
      let client = try client(server)
      _ = try await client.get("/a")
      await #expect { _ = try await client.post("/b", true, headers: ["X-Hang-Up": "1"]) } throws: {
        ($0 as? AdminClientError)?.code == .disconnected
      }
      #expect(server.requests.count == 2)
      _ = try await client.get("/c")
      await #expect { _ = try await client.send(.GET, "/d", headers: ["X-Hang-Up": "1"]) } throws: {
        ($0 as? AdminClientError)?.code == .disconnected
      }
      // Once over the kept connection, once over a new one.
      #expect(server.requests.count(where: { $0.path == "/d" }) == 2)
      await client.close()
    }
  }

  @Test("a write is sent again over a new connection, once, where it was said that it may be")
  func repeatedWrite() async throws {
    try await TinyServer.run({ request in
      TinyServer.Answer(body: Array("true".utf8), hangsUp: request.headers.contains(name: "X-Hang-Up"))
    }) { server in
      var limits = AdminClient.Limits()
      limits.repeatsWrites = true
      let client = try client(server, limits: limits)
      // The first connection is new: nothing says that the server closed it before it read.
      for expected in [1, 2] {
        await #expect { _ = try await client.post("/b", true, headers: ["X-Hang-Up": "1"]) } throws: {
          ($0 as? AdminClientError)?.code == .disconnected
        }
        #expect(server.requests.count(where: { $0.path == "/b" }) == (expected == 1 ? 1 : 3))
        _ = try await client.get("/a")
      }
      await client.close()
    }
  }

  @Test("an answer has a time and a size")
  func bounds() async throws {
    try await TinyServer.run({ request in
      request.path == "/slow"
        ? TinyServer.Answer(isSilent: true) : TinyServer.Answer(body: [UInt8](repeating: 0x20, count: 4000))
    }) { server in
      let client = try client(server)
      await #expect { _ = try await client.send(.GET, "/slow", timeout: .milliseconds(50)) } throws: {
        ($0 as? AdminClientError)?.code == .timedOut
      }
      await #expect { _ = try await client.send(.GET, "/big", responseBytesMax: 3999) } throws: {
        ($0 as? AdminClientError)?.code == .tooLarge
      }
      #expect(try await client.send(.GET, "/big", responseBytesMax: 4000).body.count == 4000)
      await client.close()
    }
  }

  @Test("a refusal is the server's own sentence")
  func refusals() async throws {
    try await TinyServer.run({ request in
      switch request.path {
      case "/plain": .json(["error": "No such thing.", "code": "not_found"], status: 404)
      case "/nested": .json(["error": ["message": "INVALID"]], status: 400)
      case "/empty": TinyServer.Answer(status: 204)
      default: TinyServer.Answer(status: 500, body: Array("<html>".utf8))
      }
    }) { server in
      let client = try client(server)
      for (path, status, text) in [
        ("/plain", 404, "No such thing."), ("/nested", 400, "INVALID"),
        ("/html", 500, "The server answered with status 500 and no explanation."),
      ] {
        await #expect { _ = try await client.get(path) } throws: { error in
          let error = error as? AdminClientError
          return error?.status == status && error?.message == text
        }
      }
      #expect(try await client.get("/empty") == .null)
      #expect(try await client.send(.GET, "/plain").status == 404)
      await client.close()
    }
  }

  @Test("nobody there is a sentence too")
  func unreachable() async throws {
    let client = try AdminClient(server: "http://127.0.0.1:1", token: nil)
    await #expect { _ = try await client.get("/a") } throws: { error in
      (error as? AdminClientError)?.message == "No server answers at http://127.0.0.1:1."
    }
  }

  static let addresses: [(String, String)] = [
    ("http://127.0.0.1:9000", "http://127.0.0.1:9000"), ("http://localhost:9000/", "http://localhost:9000"),
    ("https://game.example.com", "https://game.example.com"), ("HTTPS://[::1]:443/", "https://[::1]"),
    ("https://h:80", "https://h:80"), ("http://h:443", "http://h:443"), ("game.example.com", "http://game.example.com"),
    ("HTTP://[::1]:80", "http://[::1]"), ("[::1]:9000", "http://[::1]:9000"),
  ]

  @Test("addresses", arguments: addresses)
  func address(_ text: String, _ expected: String) throws {
    #expect(try ServerAddress(text).description == expected)
  }

  @Test(
    "what is no address",
    arguments: [
      "", "https://", "ftp://x", "http://", "http://x:0", "http://x:70000", "http://x:1a", "http://x/path", "http://a b",
      "http://[::1", "http://[::1]x", "http://u@x", "http://x:+1",
    ])
  func noAddress(_ text: String) {
    #expect(throws: AdminClientError.self) { try ServerAddress(text) }
  }

  @Test("nothing can be smuggled into a request")
  func smuggling() async throws {
    #expect(throws: AdminClientError.self) { try AdminClient(server: "http://x", token: "a\r\nX: y") }
    let client = try AdminClient(server: "http://127.0.0.1:1", token: nil)
    for path in ["x", "/a b", "/a\r\n", "/ü"] {
      await #expect { _ = try await client.get(path) } throws: { ($0 as? AdminClientError)?.code == .badRequest }
    }
  }

  @Test("paths of the tree")
  func treePaths() {
    #expect(AdminClient.treePath("/") == "/.json")
    #expect(AdminClient.treePath("users/bob") == "/users/bob.json")
    #expect(AdminClient.treePath("/a b/ü/.priority") == "/a%20b/%C3%BC/.priority.json")
    #expect(AdminEvents.show.path(["1-42:/users/b b"]) == "/admin/v1/events/1-42%3A/users/b%20b")
  }
}
