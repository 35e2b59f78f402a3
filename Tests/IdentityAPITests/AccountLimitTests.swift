import Accounts
import NIOHTTP1
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

@testable import HTTPServer

/// Who counts as one for the limits, and what of a request is bounded.
struct AccountLimitTests {
  /// A server behind a proxy, so that a test may come from anywhere.
  private func run(_ kind: AccountKind, _ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    let proxy = try #require(AddressRange(parsing: "127.0.0.0/8"))
    try await APIServer.run(configuration: .changed { $0.trustedProxies = TrustedProxies([proxy]) }, accounts: kind) { server in
      try await test(server, IdentityClient(server: server))
    }
  }

  private func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

  @Test("A client that moves about in an IPv6 network of 64 bits stays the same: in sign-ups, and in guesses")
  func clientNetwork() async throws {
    var kind = AccountKind.production
    kind.options.signUpsPerHour = 3
    try await run(kind) { _, client in
      var statuses: [Int] = []
      for last in 1...4 {
        let body: JSON = .record([("email", .string("p\(last)@x.io")), ("password", "secret1")])
        statuses.append(try await client.call("accounts:signUp", body, headers: from("2001:db8:7:7::\(last)")).status)
      }
      #expect(statuses == [200, 200, 200, 400])
      #expect(try await client.call("accounts:signUp", [:], headers: from("2001:db8:7:8::1")).status == 200)
      let wrong: JSON = ["email": "p1@x.io", "password": "wrong1"]
      for last in 1...10 {
        let answer = try await client.call("accounts:signInWithPassword", wrong, headers: from("2001:db8:9:9::\(last)"))
        #expect(answer.error == "INVALID_PASSWORD")
      }
      let right: JSON = ["email": "p1@x.io", "password": "secret1"]
      let blocked = try await client.call("accounts:signInWithPassword", right, headers: from("2001:db8:9:9:1::"))
      #expect(blocked.error.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER"))
      #expect(try await client.call("accounts:signInWithPassword", right, headers: from("2001:db8:9:a::1")).status == 200)
    }
  }

  @Test("What stands in front of an address makes no account of it; a tag does")
  func addresses() async throws {
    try await run(.production) { _, client in
      for (email, error) in [
        ("n0<victim@y.z>", "INVALID_EMAIL"), ("n1<victim@y.z>", "INVALID_EMAIL"), ("a@y.z,b@y.z", "INVALID_EMAIL"),
        ("a@y.z", ""), ("A@Y.Z", "EMAIL_EXISTS"), ("a+x@y.z", ""), ("a@localhost", "INVALID_EMAIL"), ("ä@y.z", "INVALID_EMAIL"),
      ] {
        let answer = try await client.player(email)
        #expect(answer.error == error, "\(email)")
      }
    }
  }

  @Test("A field path that no setting has, as deep as a request can be, is refused")
  func maskDepth() async throws {
    try await run(AccountKind()) { _, client in
      for mask in [String(repeating: "a.", count: 15_000), String(repeating: "a", count: 201), "a.b.c.d.e.f.g.h.i"] {
        let answer = try await client.send(
          "PATCH", "/v2/projects/game/config?updateMask=\(mask)", ["signIn": ["allowDuplicateEmails": true]],
          headers: IdentityClient.owner)
        #expect(answer.status == 400)
      }
    }
  }

  @Test("Clients are told the domains that are configured; this machine's names in development only")
  func domains() async throws {
    var kind = AccountKind.production
    kind.options.authorizedDomains = ["game.example.com", "beta.example.com"]
    try await run(kind) { _, client in
      let answer = try await client.send("GET", "/identitytoolkit.googleapis.com/v1/projects?key=k")
      #expect(answer["authorizedDomains"] == ["beta.example.com", "game.example.com"])
    }
    try await run(.development) { _, client in
      let answer = try await client.send("GET", "/identitytoolkit.googleapis.com/v1/projects?key=k")
      #expect(answer["authorizedDomains"] == ["localhost", "127.0.0.1"])
    }
  }
}
