import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// `Idempotency-Key` (design §7).
struct IdempotencyTests {
  @Test("A repetition gets the first answer, and nothing happens again")
  func repetition() async throws {
    try await APIServer.run { server in
      let key = ["Idempotency-Key": "k1", "X-Firebase-ETag": "true"]
      let first = try await server.send("POST", "/l.json", "1", headers: key)
      let revision = try server.revision()
      let second = try await server.send("POST", "/l.json", "1", headers: key)
      #expect(first.status == 200 && second.status == 200 && first.body == second.body)
      #expect(first["etag"] == second["etag"] && first["etag"] != nil)
      #expect(first["idempotency-replayed"] == nil && second["idempotency-replayed"] == "true")
      #expect(try server.revision() == revision)
      let increment = #"{".sv":{"increment":1}}"#
      for _ in 0..<3 {
        try await server.expect(.init("PUT", "/n.json", increment, headers: ["Idempotency-Key": "k2"], is: "1"))
      }
      try await server.expect(
        .init("PUT", "/s.json?print=silent", "1", headers: ["Idempotency-Key": "k3"], status: 204),
        .init(
          "PUT", "/s.json?print=silent", "1", headers: ["Idempotency-Key": "k3"], status: 204,
          having: ["idempotency-replayed": "true"]))
    }
  }

  @Test("The same key for another body, method or path: 422, nothing written")
  func conflict() async throws {
    try await APIServer.run { server in
      let key = ["Idempotency-Key": "k"]
      try await server.expect(
        .init("PUT", "/a.json", "1", headers: key), .init("PUT", "/a.json", "2", headers: key, status: 422),
        .init("PUT", "/b.json", "1", headers: key, status: 422), .init("POST", "/a.json", "1", headers: key, status: 422),
        .init("PUT", "/a.json?print=pretty", "1", headers: key, status: 422), .init("GET", "/.json", is: #"{"a":1}"#))
    }
  }

  @Test("Keys belong to their sender; a renewed token does not make another request")
  func senders() async throws {
    try await APIServer.run { server in
      let key = ["Idempotency-Key": "k"]
      try await server.expect(
        .init("PUT", "/a.json", "1", headers: key),
        .init(
          "PUT", "/a.json", "2", headers: key.merging(APIServer.admin) { $1 }, is: "2", having: ["idempotency-replayed": ""]),
        .init("PUT", "/a.json?access_token=other", "1", headers: key, status: 422),
        .init("PUT", "/c.json?access_token=one&x=1", "1", headers: ["Idempotency-Key": "t"]),
        .init(
          "PUT", "/c.json?access_token=two&x=1", "1", headers: ["Idempotency-Key": "t"],
          having: ["idempotency-replayed": "true"]))
    }
  }

  @Test("After 24 hours the key is forgotten; empty and overlong keys are refused")
  func lifetime() async throws {
    try await APIServer.run { server in
      let key = ["Idempotency-Key": "k"]
      try await server.expect(.init("POST", "/l.json", "1", headers: key))
      server.clock.advance(by: 86_400_001)
      try await server.expect(
        .init("POST", "/l.json", "2", headers: key, having: ["idempotency-replayed": ""]),
        .init("PUT", "/a.json", "1", headers: ["Idempotency-Key": ""], status: 400),
        .init("PUT", "/a.json", "1", headers: ["Idempotency-Key": String(repeating: "k", count: 256)], status: 400))
    }
  }
}
