import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// `Idempotency-Key`.
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

/// Conditional requests (Firebase's REST reference, conditional requests).
struct ETagTests {
  private static let asks = ["X-Firebase-ETag": "true"]

  @Test("34. X-Firebase-ETag: true returns ETag; not otherwise")
  func tag() async throws {
    try await APIServer.run { server in
      let one = TreeNode.leaf(1).dataHash
      try await server.expect(
        .init("GET", "/e.json", headers: Self.asks, is: "null", having: ["etag": "null_etag"]),
        .init("PUT", "/e.json", "1", headers: Self.asks, is: "1", having: ["etag": one]),
        .init("GET", "/e.json", headers: ["x-firebase-etag": "True"], having: ["etag": one]),
        .init("GET", "/e.json", having: ["etag": ""]), .init("PUT", "/e.json", "1", having: ["etag": ""]),
        .init("POST", "/l.json", "1", headers: Self.asks, having: ["etag": one]),
        .init("DELETE", "/e.json", headers: Self.asks, is: "null", having: ["etag": "null_etag"]),
        .init("PATCH", "/e.json", "{}", headers: Self.asks, status: 400))
    }
  }

  @Test("35. PUT if-match: right 200, stale 412 with body and ETag; null_etag creates once")
  func put() async throws {
    try await APIServer.run { server in
      let one = TreeNode.leaf(1).dataHash
      let two = TreeNode.leaf(2).dataHash
      try await server.expect(
        .init("PUT", "/c.json", "1", headers: ["if-match": "null_etag"], is: "1", having: ["etag": one]),
        .init("PUT", "/c.json", "9", headers: ["if-match": "null_etag"], status: 412, is: "1", having: ["etag": one]),
        .init("PUT", "/c.json", "2", headers: ["If-Match": one], is: "2", having: ["etag": two]),
        .init("PUT", "/c.json", "3", headers: ["If-Match": one], status: 412, is: "2", having: ["etag": two]),
        .init("PUT", "/c.json", "3", headers: ["If-Match": "\"\(two)\""], is: "3"),
        .init("PUT", "/c.json?print=silent", "4", headers: ["If-Match": two], status: 400),
        .init("GET", "/c.json", is: "3"))
    }
  }

  @Test("36. DELETE if-match; GET, POST and PATCH if-match: 400")
  func others() async throws {
    try await APIServer.run { server in
      let tag = TreeNode.leaf(1).dataHash
      try await server.expect(
        .init("PUT", "/d.json", "1"), .init("DELETE", "/d.json", headers: ["if-match": "x"], status: 412, is: "1"),
        .init("GET", "/d.json", headers: ["if-match": tag], status: 400),
        .init("POST", "/d.json", "1", headers: ["if-match": tag], status: 400),
        .init("PATCH", "/d.json", "{}", headers: ["if-match": tag], status: 400),
        .init("PUT", "/d/.priority.json", "1", headers: ["if-match": tag], status: 400),
        .init("DELETE", "/d.json", headers: ["if-match": tag], is: "null", having: ["etag": "null_etag"]),
        .init("GET", "/d.json", is: "null"))
    }
  }

  @Test("37. if-none-match equal: 304")
  func notModified() async throws {
    try await APIServer.run { server in
      let tag = TreeNode.leaf(1).dataHash
      try await server.expect(
        .init("PUT", "/n.json", "1"),
        .init("GET", "/n.json", headers: ["if-none-match": tag], status: 304, is: "", having: ["etag": tag]),
        .init("GET", "/n.json", headers: ["if-none-match": "other"], is: "1", having: ["etag": tag]),
        .init("GET", "/absent.json", headers: ["if-none-match": "null_etag"], status: 304))
    }
  }
}
