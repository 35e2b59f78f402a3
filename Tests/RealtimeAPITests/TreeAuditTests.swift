import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import APISupport

/// What administrators write into the tree, in the audit log.
struct TreeAuditTests {
  private func rows(_ server: APIServer, _ query: String = "action=data") async throws -> [JSON] {
    let response = try await server.send("GET", "/admin/v1/audits?\(query)", headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    return response.json?["actions"]?.array ?? []
  }

  @Test("Who wrote, where and how much is on record, and nothing of what; players' writes, reads and refusals are not")
  func rest() async throws {
    try await APIServer.run { server in
      let writes: [(method: String, path: String, body: String?, action: String, detail: JSON)] = [
        ("PUT", "/users/bob.json", #"{"name":"Secret Bob"}"#, "data.set", ["path": "/users/bob", "bodyBytes": 21]),
        (
          "PATCH", "/users.json", #"{"bob/level":4,"eve/level":5}"#, "data.update",
          ["path": "/users", "places": 2, "bodyBytes": 29]
        ),
        ("DELETE", "/users/eve.json", nil, "data.remove", ["path": "/users/eve"]),
        (
          "PUT", "/users/bob/level.json?ns=other", "7", "data.set", ["path": "/users/bob/level", "ns": "other", "bodyBytes": 1]
        ),
      ]
      for write in writes {
        #expect(try await server.send(write.method, write.path, write.body, headers: APIServer.admin).status == 200)
      }
      _ = try await server.send("GET", "/users.json", headers: APIServer.admin)
      _ = try await server.send("PUT", "/users/carl.json", "1")
      #expect(try await server.send("PUT", "/users/bob.json", "{", headers: APIServer.admin).status == 400)
      let stale = try await server.send(
        "PUT", "/users/bob.json", "1", headers: APIServer.admin.merging(["if-match": "someone"]) { $1 })
      #expect(stale.status == 412)
      let found = try await rows(server)
      #expect(found.map { $0["action"]?.string } == writes.reversed().map { $0.action })
      #expect(found.map { $0["detail"] } == writes.reversed().map { $0.detail })
      #expect(found.allSatisfy { $0["actor"] == "admin:owner" && $0["result"] == "ok" })
      #expect(!found.map(\.compact).joined().contains("Secret"))
      let pushed = try await server.send("POST", "/users/bob/chests.json", "1", headers: APIServer.admin)
      let name = try #require(pushed.json?["name"]?.string)
      #expect(try await rows(server).first?["detail"]?["path"]?.string == "/users/bob/chests/\(name)")
      // The others' records are found without these.
      _ = try await server.send("POST", "/admin/v1/namespaces", #"{"name":"game"}"#, headers: APIServer.admin)
      #expect(try await rows(server, "except=data").map { $0["action"]?.string } == ["namespaces.create"])
    }
  }

  @Test("Beyond twenty a minute of one administrator records are left out, and the next one says how many; no write is")
  func bounded() async throws {
    try await APIServer.run { server in
      for number in 0..<25 {
        #expect(try await server.send("PUT", "/n\(number).json", "1", headers: APIServer.admin).status == 200)
      }
      #expect(try await rows(server).count == AuditTrail.treeWritesPerMinute)
      _ = try await server.send("POST", "/admin/v1/clock", #"{"advance":60000}"#, headers: APIServer.admin)
      _ = try await server.send("PUT", "/late.json", "1", headers: APIServer.admin)
      #expect(try await rows(server).first?["detail"] == ["path": "/late", "bodyBytes": 1, "leftOutBefore": 5])
      let written = try await server.send("GET", "/.json?shallow=true", headers: APIServer.admin)
      #expect(written.json?.object?.count == 26)
    }
  }

  @Test("What an administrator writes over a socket is on record too, and what is written when it goes")
  func sockets() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      for request in [
        #"{"r":1,"a":"gauth","b":{"cred":"owner"}}"#, #"{"r":2,"a":"p","b":{"p":"/users/bob","d":{"level":1}}}"#,
        #"{"r":3,"a":"m","b":{"p":"/users","d":{"bob/level":2,"eve/level":3}}}"#,
        #"{"r":4,"a":"o","b":{"p":"/online/bob","d":false}}"#,
      ] {
        try await client.request(request)
        #expect(try await client.answer()?.contains(#""s":"ok""#) == true, "\(request)")
      }
      try await client.close()
      #expect(try await becomes { try await rows(server).count == 3 })
      let found = try await rows(server)
      #expect(found.compactMap { $0["action"]?.string } == ["data.onDisconnect", "data.update", "data.set"])
      #expect(found.last?["detail"]?["path"] == "/users/bob" && found.last?["actor"] == "admin:owner")
      #expect(found[1]["detail"]?["places"] == 2)
    }
  }
}
