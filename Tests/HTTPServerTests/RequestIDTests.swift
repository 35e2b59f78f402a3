import ServerTestSupport
import Testing
import TreeModel

@testable import HTTPServer

/// What requests are called.
struct RequestIDTests {
  @Test(
    "A name is 1 to 128 letters, digits and a few marks",
    arguments: [
      ("a", true), ("order-7/attempt.2", true), ("01HF:x_y~z+=@", true), (String(repeating: "a", count: 128), true),
      ("", false), (String(repeating: "a", count: 129), false), ("a b", false), ("a\"b", false), ("a\u{7F}", false),
      ("caf\u{E9}", false), ("a,b", false), ("<script>", false),
    ])
  func names(_ name: String, _ isWellFormed: Bool) {
    #expect(RequestID.isWellFormed(name) == isWellFormed)
  }

  @Test("Who names a request finds the name in the answer; who does not gets the answer that there always was")
  func echo() async throws {
    try await APIServer.run { server in
      let named = try await server.send("GET", "/a.json", headers: ["X-Request-ID": "trace-1"])
      #expect(named.status == 200 && named["x-request-id"] == "trace-1")
      #expect(try await server.send("GET", "/a.json")["x-request-id"] == nil)
      #expect(try await server.send("PUT", "/a.json", "{", headers: ["x-request-id": "bad-2"])["x-request-id"] == "bad-2")
      // A name that cannot be repeated is none.
      #expect(try await server.send("GET", "/a.json", headers: ["X-Request-ID": "a b"])["x-request-id"] == nil)
    }
  }

  @Test("The name of one request is not the next one's, on whatever way either was read")
  func forgotten() async throws {
    try await APIServer.run { server in
      let connection = try await RawConnection.connect(to: server.port)
      // The second goes through NIO's decoder, for it changes how the connection is read.
      try await connection.send(
        APIServer.text("GET", "/a.json", headers: ["X-Request-ID": "one"])
          + APIServer.text("GET", "/a.json", headers: ["X-Request-ID": "two", "Connection": "Keep-Alive, X"])
          + APIServer.text("GET", "/a.json"))
      #expect(try await connection.next()?["x-request-id"] == "one")
      #expect(try await connection.next()?["x-request-id"] == "two")
      #expect(try await connection.next()?["x-request-id"] == nil)
      try await connection.close()
    }
  }

  @Test("An administrator's request has a name of the server's, which is on record with what was done")
  func record() async throws {
    try await APIServer.run { server in
      let own = try await server.send("POST", "/admin/v1/clock", #"{"advance":5}"#, headers: APIServer.admin)
      let name = try #require(own["x-request-id"])
      #expect(RequestID.isWellFormed(name))
      var headers = APIServer.admin
      headers["X-Request-ID"] = "ticket-9"
      #expect(try await server.send("POST", "/admin/v1/clock", #"{"advance":6}"#, headers: headers).status == 200)
      let text = try await server.send("GET", "/admin/v1/audit", headers: APIServer.admin).body
      let rows = try JSONParser.parse(Array(text.utf8))["actions"]?.array ?? []
      let names = rows.compactMap { $0["detail"]?["request"]?.string }
      #expect(names.contains(name) && names.contains("ticket-9"), "\(text)")
    }
  }
}
