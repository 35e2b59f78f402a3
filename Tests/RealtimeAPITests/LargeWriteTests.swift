import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import APISupport

/// Large bodies of those who may not write, and of those who may.
struct LargeWriteTests {
  private static let large = "[\"" + String(repeating: "x", count: 100_000) + "\"]"
  private static let bob = RulesTests.token("bob")

  private static let rules = """
    {"rules": {
      "users": {"$uid": {".write": "auth.uid === $uid"}},
      "guests": {"$name": {".write": "newData.isString()"}},
      "walls": {"$name": {"notes": {".write": true}}}
    }}
    """

  private func run(limits: WriteLimits = WriteLimits(), _ test: (APIServer) async throws -> Void) async throws {
    let production = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "owner", secret: "owner")])
    try await APIServer.run(access: production, limits: limits) { server in
      _ = try await server.database.openNamespace(named: "game")
      try await server.expect(.init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin))
      try await test(server)
    }
  }

  @Test("Of a body that no rule could allow only 64 KB are read: the answer is Permission denied, and the connection ends")
  func refusedByHead() async throws {
    try await run { (server: APIServer) async throws in
      for (method, path) in [
        ("PUT", "/users/x.json"), ("PATCH", "/users/x.json"), ("POST", "/users/x.json"), ("PUT", "/.json"),
      ] {
        let connection = try await RawConnection.connect(to: server.port)
        // Of the body only a part is ever sent: the answer must not wait for the rest.
        connection.sendLoosely("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n[0,0")
        let answer = try #require(try await connection.next())
        #expect(
          answer.status == 401 && answer.error == "Permission denied" && answer["connection"] == "close", "\(method) \(path)")
        #expect(try await connection.next() == nil)
      }
      // Nobody has said how long it is.
      let connection = try await RawConnection.connect(to: server.port)
      let piece = "10000\r\n" + String(repeating: "0", count: 0x10000) + "\r\n"
      connection.sendLoosely(
        "PUT /users/x.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + piece + piece)
      #expect(try await connection.next()?.status == 401)
      // What is no token is no credential, and an address that is none is refused for that.
      #expect(try await server.send("PUT", "/users/x.json?auth=\(Self.bob)", Self.large).status == 401)
      #expect(try await server.send("PUT", "/us%23ers.json", Self.large).status == 400)
    }
  }

  @Test("A large body that a rule might allow is judged by its data")
  func judged() async throws {
    try await run { (server: APIServer) async throws in
      #expect(try await server.send("PUT", "/guests/x.json", Self.large).error == "Permission denied")
      let text = "\"" + String(repeating: "x", count: 100_000) + "\""
      #expect(try await server.send("PUT", "/guests/x.json", text).status == 200)
      #expect(try await server.send("PATCH", "/walls/x.json", "{\"notes/a\":\(Self.large)}").status == 200)
      #expect(try await server.send("PUT", "/users/bob.json", Self.large, headers: APIServer.admin).status == 200)
    }
  }

  @Test("Elsewhere large bodies are administrators'")
  func otherRoutes() async throws {
    try await run { (server: APIServer) async throws in
      let text = "{\"x\":\"" + String(repeating: "x", count: 100_000) + "\"}"
      #expect(try await server.send("POST", "/v1/accounts:signUp?key=k", text).status == 413)
      #expect(try await server.send("PUT", "/.settings/rules.json", text).status == 413)
      #expect(try await server.send("PUT", "/.settings/rules.json", text, headers: APIServer.admin).status == 400)
    }
  }

  @Test("More leaves than a commit may change are refused before the writer sees them")
  func counted() async throws {
    try await APIServer.run(limits: WriteLimits(leavesMax: 10)) { server in
      let tooLarge = APIServer.error("Data to write exceeds the maximum size that can be modified with a single request.")
      let eleven = "[0,0,0,0,0,0,0,0,0,0,0]"
      let nulls = "[" + Array(repeating: "null", count: 200).joined(separator: ",") + "]"
      try await server.expect(
        .init("PUT", "/a.json", eleven, status: 400, is: tooLarge), .init("POST", "/a.json", eleven, status: 400, is: tooLarge),
        .init("PATCH", "/a.json", "{\"b\":\(eleven)}", status: 400, is: tooLarge),
        .init("PUT", "/a.json", nulls, status: 400, is: tooLarge), .init("PUT", "/a.json", "[0,0,0,0,0,0,0,0,0,0]"))
      #expect(try server.revision() == 1)
    }
  }
}
