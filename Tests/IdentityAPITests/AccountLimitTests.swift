import Accounts
import NIOHTTP1
import ServerTestSupport
import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import HTTPServer

/// How often one may ask, and who counts as one.
struct AccountLimitTests {
  /// Notes the letters instead of mailing them.
  private final class Mailbox: CodeMailing {
    private let addresses = Mutex<[String]>([])
    var all: [String] { addresses.withLock { $0 } }
    func message(for letter: CodeMail) -> (outlet: String, payload: String)? {
      addresses.withLock { $0.append(letter.to) }
      return ("mail", "{}")
    }
  }

  /// A server behind a proxy, so that a test may come from anywhere.
  private func run(_ kind: AccountKind, _ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    let proxy = try #require(AddressRange(parsing: "127.0.0.0/8"))
    try await APIServer.run(configuration: .changed { $0.trustedProxies = TrustedProxies([proxy]) }, accounts: kind) {
      server in try await test(server, IdentityClient(server: server))
    }
  }

  private func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

  @Test("Whoever moves about in an IPv6 network of 64 bits stays the same: in sign-ups, and in guesses")
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

  @Test("So many passwords come from one address, whatever accounts they are for; others are not concerned")
  func passwords() async throws {
    var kind = AccountKind.production
    kind.options.passwordsPerClient = RateLimit(3, per: 60_000)
    try await run(kind) { server, client in
      let jim: JSON = ["email": "jim@x.io", "password": "secret1"]
      #expect(try await client.call("accounts:signUp", jim, headers: from("192.0.2.9")).status == 200)
      var errors: [String] = []
      for number in 1...5 {
        let guess: JSON = .record([("email", .string("p\(number)@x.io")), ("password", "secret1")])
        let answer = try await client.call("accounts:signInWithPassword", guess, headers: from("198.51.100.1"))
        errors.append(String(answer.error.prefix { $0 != " " }))
      }
      #expect(
        errors == Array(repeating: "EMAIL_NOT_FOUND", count: 3) + Array(repeating: "TOO_MANY_ATTEMPTS_TRY_LATER", count: 2))
      // Whether it signs up or in: each takes a hash.
      let new: JSON = ["email": "new@x.io", "password": "secret1"]
      let signUp = try await client.call("accounts:signUp", new, headers: from("198.51.100.1"))
      #expect(signUp.error.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER"))
      #expect(try await client.call("accounts:signInWithPassword", jim, headers: from("192.0.2.9")).status == 200)
      server.clock.advance(by: 20_000)
      #expect(try await client.call("accounts:signInWithPassword", jim, headers: from("198.51.100.1")).status == 200)
    }
  }

  @Test("One mailbox gets no more codes for being spelt in many ways")
  func spellings() async throws {
    let mailbox = Mailbox()
    var kind = AccountKind.production
    kind.mail = mailbox
    kind.options.codesPerRecipient = RateLimit(2, per: 3_600_000)
    try await run(kind) { _, client in
      var statuses: [Int] = []
      let spellings = [
        "victim+1@x.io", "victim+2@x.io", "victim@x.io", "n0<victim@x.io>", "v.i@gmail.com", "VI@gmail.com",
        "v.i+x@googlemail.com",
      ]
      for (number, email) in spellings.enumerated() {
        let body: JSON = .record([("requestType", "EMAIL_SIGNIN"), ("email", .string(email))])
        statuses.append(try await client.call("accounts:sendOobCode", body, headers: from("192.0.2.\(number)")).status)
      }
      #expect(statuses == [200, 200, 400, 400, 200, 200, 400])
      #expect(mailbox.all == ["victim+1@x.io", "victim+2@x.io", "v.i@gmail.com", "vi@gmail.com"])
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

  @Test("Codes are mailed so often for who asks, and so often to one address, whatever they are for")
  func codes() async throws {
    let mailbox = Mailbox()
    var kind = AccountKind.production
    kind.mail = mailbox
    kind.options.codesPerClient = RateLimit(5, per: 3_600_000)
    kind.options.codesPerRecipient = RateLimit(2, per: 3_600_000)
    try await run(kind) { server, client in
      func ask(_ email: String, from address: String, _ type: String = "EMAIL_SIGNIN") async throws -> String {
        let body: JSON = .record([("requestType", .string(type)), ("email", .string(email))])
        let answer = try await client.call("accounts:sendOobCode", body, headers: from(address))
        return answer.status == 200 ? "ok" : answer.error
      }
      // Anybody's address, from everywhere: the recipient is spared.
      var toOne: [String] = []
      for last in 1...4 { toOne.append(try await ask("victim@x.io", from: "192.0.2.\(last)")) }
      #expect(toOne == ["ok", "ok", "RESET_PASSWORD_EXCEED_LIMIT", "RESET_PASSWORD_EXCEED_LIMIT"])
      // Everybody's address, from one place.
      var fromOne: [String] = []
      for number in 1...7 { fromOne.append(try await ask("p\(number)@x.io", from: "198.51.100.1")) }
      #expect(fromOne == Array(repeating: "ok", count: 5) + Array(repeating: "RESET_PASSWORD_EXCEED_LIMIT", count: 2))
      #expect(mailbox.all.count == 7)
      server.clock.advance(by: 3_600_000)
      #expect(try await ask("victim@x.io", from: "198.51.100.1") == "ok")
    }
  }

  @Test("Who changes addresses to make the server write letters is slowed down too")
  func recovery() async throws {
    let mailbox = Mailbox()
    var kind = AccountKind.production
    kind.mail = mailbox
    kind.options.codesPerRecipient = RateLimit(1, per: 3_600_000)
    try await run(kind) { server, client in
      var statuses: [Int] = []
      for number in 1...2 {
        let made = try await client.player("victim@x.io")
        let answer = try await client.call(
          "accounts:update", ["idToken": .string(made.text("idToken")), "email": .string("p\(number)@x.io")])
        statuses.append(answer.status)
      }
      #expect(statuses == [200, 400])
      #expect(mailbox.all == ["victim@x.io"])
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

  @Test("Where addresses are hidden, the limit says nothing about who is known")
  func hidden() async throws {
    var kind = AccountKind.production
    kind.mail = Mailbox()
    kind.options.codesPerRecipient = RateLimit(2, per: 3_600_000)
    try await run(kind) { _, client in
      _ = try await client.player("jim@x.io")
      _ = try await client.send(
        "PATCH", "/v2/projects/game/config?updateMask=emailPrivacyConfig",
        ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]], headers: IdentityClient.owner)
      for email in ["jim@x.io", "nobody@x.io"] {
        var statuses: [Int] = []
        for _ in 0..<3 {
          let body: JSON = ["requestType": "PASSWORD_RESET", "email": .string(email)]
          statuses.append(try await client.call("accounts:sendOobCode", body).status)
        }
        #expect(statuses == [200, 200, 400], "\(email)")
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
