import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// Bad input gets a clear error and changes nothing.
struct BadInputTests {
  static let rows: [ExchangeRow] = [
    .init("PUT", "/a.json", "{", status: 400), .init("PUT", "/a.json", #"{".value":1,"b":2}"#, status: 400),
    .init("PUT", "/a.json", #"{".sv":"timestamp","b":2}"#, status: 400),
    .init("PUT", "/a.json", #"{".priority":true}"#, status: 400),
    .init("PUT", "/a.json", "\"\\ud800\"", status: 400), .init("PATCH", "/a.json", #"{"":1}"#, status: 400),
    .init("PATCH", "/a.json", #"{"b/.value":1}"#, status: 400), .init("POST", "/a.json", status: 400),
    .init("BREW", "/a.json", "1", status: 400), .init("TRACE", "/a.json", status: 405), .init("PUT", "/a", "1", status: 404),
    .init("PUT", "/.json?ns=../x", "1", status: 400), .init("PUT", "/a.json?timeout=5", "1", status: 400),
    .init("PUT", "/a.json?timeout=0s", "1", status: 400), .init("PUT", "/a.json?timeout=16min", "1", status: 400),
    .init("PUT", "/a.json?shallow=true", "1", status: 400), .init("PUT", "/a.json?orderBy=%22$key%22", "1", status: 400),
    .init("PUT", "/a.json", "1", headers: ["X-Doubloon-Wait": "forever"], status: 400),
    .init("PUT", "/a.json", "1", headers: ["X-Doubloon-Wait": "effects"], status: 501),
    .init("DELETE", "/a/.priority.json", status: 400), .init("PUT", "/a.json", "1", headers: ["if-match": "x"], status: 412),
    .init("PUT", "/.settings/rules.json", "{}", status: 401),
    .init("PUT", "/.settings/rules.json", "{}", headers: APIServer.admin, status: 400),
  ]

  @Test("Every bad request has an error text and leaves the revision where it was")
  func unchanged() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/kept.json", "1"))
      let revision = try server.revision()
      for row in Self.rows {
        let response = try await server.send(row.method, row.path, row.body, headers: row.headers)
        #expect(response.status == row.status, "\(row.method) \(row.path): \(response.status) \(response.body)")
        if row.status != 412 { #expect(response.error?.isEmpty == false, "\(row.method) \(row.path)") }
        #expect(try server.revision() == revision, "\(row.method) \(row.path)")
      }
      try await server.expect(.init("GET", "/.json", is: #"{"kept":1}"#))
    }
  }

  @Test("Bad input does not even make a namespace")
  func noNamespace() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/a.json?ns=fresh", "{", status: 400))
      #expect(server.database.namespace(named: "fresh") == nil)
    }
  }

  @Test("A commit that is too large is refused whole")
  func tooLarge() async throws {
    try await APIServer.run(limits: WriteLimits(leavesMax: 10)) { server in
      let many = "{" + (0..<20).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
      try await server.expect(
        .init(
          "PUT", "/a.json", many, status: 400,
          is: APIServer.error("Data to write exceeds the maximum size that can be modified with a single request.")),
        .init("GET", "/a.json", is: "null"))
    }
  }

  @Test("Reads beyond the event loop's share come from another thread, whole")
  func largeRead() async throws {
    try await APIServer.run { server in
      let many = "{" + (0..<3000).map { "\"k\($0 + 10_000)\":\($0)" }.joined(separator: ",") + "}"
      try await server.expect(
        .init("PUT", "/big.json", many, is: many), .init("GET", "/big.json", is: many),
        .init("GET", "/big.json?orderBy=%22$key%22&limitToFirst=2", is: #"{"k10000":0,"k10001":1}"#))
      #expect(try await server.send("GET", "/big.json?shallow=true").json?.object?.count == 3000)
    }
  }
}
