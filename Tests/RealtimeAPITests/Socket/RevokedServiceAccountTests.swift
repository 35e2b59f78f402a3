import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// A service account that is revoked is cut off where it is connected, as players are (spec: rtdb-protocol §3.10).
struct RevokedServiceAccountTests {
  private static let revoked = #"{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}"#

  private func socket(_ keyed: KeyedServer, _ token: String, _ more: String = "") async throws -> SocketClient {
    let (client, _) = try await SocketClient.connect(to: keyed.server.port)
    try await client.request(#"{"r":1,"a":"gauth","b":{"cred":"\#(token)"\#(more)}}"#)
    #expect(try await client.answer()?.contains(#""s":"ok""#) == true)
    return client
  }

  @Test("its sockets hear of it at once, also those where it acts as a user; others of its name, and other accounts, do not")
  func sockets() async throws {
    try await KeyedServer.run { keyed in
      let account = try await keyed.account("owner", "admin")
      let token = try await keyed.token(account)
      let own = try await socket(keyed, token)
      let asBob = try await socket(keyed, token, #","authvar":{"uid":"bob"}"#)
      let sameName = try await socket(keyed, "owner")
      let other = try await socket(keyed, try await keyed.token(try await keyed.account("other", "admin")))
      try await own.request(#"{"r":2,"a":"p","b":{"p":"/a","d":1}}"#)
      #expect(try await own.answer() == #"{"r":2,"b":{"s":"ok","d":""}}"#)
      _ = try await keyed.server.send("DELETE", "/admin/v1/service-accounts/owner", headers: APIServer.admin)
      for client in [own, asBob] {
        #expect(try await client.answer() == Self.revoked)
        try await client.close()
      }
      for client in [sameName, other] {
        try await client.request(#"{"r":3,"a":"p","b":{"p":"/a","d":2}}"#)
        #expect(try await client.answer() == #"{"r":3,"b":{"s":"ok","d":""}}"#)
        try await client.close()
      }
    }
  }

  @Test("a socket where it acts as a user ends with its token")
  func expiry() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("server", "admin"))
      let asBob = try await socket(keyed, token, #","authvar":{"uid":"bob"}"#)
      keyed.server.clock.advance(by: 3_601_000)
      try await asBob.close()
      // A new one is not let in with the old token.
      let (late, _) = try await SocketClient.connect(to: keyed.server.port)
      try await late.request(#"{"r":1,"a":"gauth","b":{"cred":"\#(token)"}}"#)
      #expect(try await late.answer()?.contains("invalid_token") == true)
      try await late.close()
    }
  }

  @Test("its streams end")
  func streams() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("server", "admin"))
      let stream = try await EventClient.open("/a.json?access_token=\(token)", port: keyed.server.port)
      #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
      #expect(try await stream.next()?.hasPrefix("event: put") == true)
      _ = try await keyed.server.send("DELETE", "/admin/v1/service-accounts/server", headers: APIServer.admin)
      #expect(try await stream.next()?.hasPrefix("event: auth_revoked") == true)
      #expect(try await stream.next() == nil)
    }
  }
}
