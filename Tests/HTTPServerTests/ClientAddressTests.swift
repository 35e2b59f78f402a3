@testable import HTTPServer
import NIOCore
import NIOHTTP1
@testable import ServerApp
import Testing

@Suite struct ClientAddressTests {
  static let addresses: [(String, String?)] = [
    ("192.0.2.7", "192.0.2.7"), ("192.0.2.7:4711", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::1", "0:0:0:0:0:0:0:1"),
    ("2001:DB8::7", "2001:db8:0:0:0:0:0:7"), ("[2001:db8::7]:99", "2001:db8:0:0:0:0:0:7"), ("", nil), ("unknown", nil),
    ("1.2.3", nil), ("1.2.3.4.5", nil), ("01.2.3.4", nil), ("[::1", nil), ("game.example", nil), ("1.2.3.4 ", nil),
  ]

  @Test("addresses", arguments: addresses)
  func parsing(_ text: String, _ expected: String?) {
    #expect(ClientAddress(parsing: text)?.description == expected)
  }

  @Test("a socket's address is the same as the text's")
  func sockets() throws {
    for text in ["192.0.2.7", "2001:db8::7", "::1", "127.0.0.1"] {
      #expect(ClientAddress(try SocketAddress(ipAddress: text, port: 80)) == ClientAddress(parsing: text))
    }
    #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/s")) == .unknown)
    #expect(ClientAddress(nil) == .unknown)
  }

  @Test("a household is an address, or a network of 64 bits")
  func households() throws {
    func clientNetwork(_ text: String) -> ClientAddress? { ClientAddress(parsing: text)?.clientNetwork }
    #expect(clientNetwork("2001:db8::7") == clientNetwork("2001:db8:0:0:ffff::1"))
    #expect(clientNetwork("2001:db8::7") != clientNetwork("2001:db8:0:1::7"))
    #expect(clientNetwork("192.0.2.7") != clientNetwork("192.0.2.8"))
    #expect(clientNetwork("::ffff:192.0.2.7") == clientNetwork("192.0.2.7"))
  }

  static let ranges: [(String, [String], [String])] = [
    ("10.0.0.0/8", ["10.0.0.0", "10.255.1.2", "::ffff:10.1.1.1"], ["11.0.0.0", "9.255.255.255", "::1"]),
    ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1"]), ("::/0", ["::1", "1.2.3.4"], []),
    ("fd00::/8", ["fd12::1"], ["fe80::1"]), ("2001:db8::/65", ["2001:db8::1"], ["2001:db8:0:0:8000::"]),
    ("192.0.2.128/25", ["192.0.2.200"], ["192.0.2.100"]), ("2001:db8::/64", ["2001:db8::ffff:0:0:1"], ["2001:db8:0:1::"]),
  ]

  @Test("ranges", arguments: ranges)
  func range(_ text: String, _ inside: [String], _ outside: [String]) throws {
    let range = try #require(AddressRange(parsing: text))
    for address in inside { #expect(range.contains(try #require(ClientAddress(parsing: address))), "\(address)") }
    for address in outside { #expect(!range.contains(try #require(ClientAddress(parsing: address))), "\(address)") }
  }

  @Test("what is no range", arguments: ["", "x", "1.2.3.4/33", "::/129", "1.2.3.4/", "1.2.3.4/-1", "1.2.3.4/8/8", "/8"])
  func noRange(_ text: String) {
    #expect(AddressRange(parsing: text) == nil)
  }

  static let hops: [(String, [String], String)] = [
    ("10.0.0.1", ["192.0.2.1"], "192.0.2.1"), ("10.0.0.1", ["6.6.6.6, 192.0.2.1"], "192.0.2.1"),
    ("10.0.0.1", ["6.6.6.6", "192.0.2.1, 10.0.0.2"], "192.0.2.1"), ("10.0.0.1", [], "10.0.0.1"),
    ("10.0.0.1", ["10.0.0.3"], "10.0.0.3"), ("10.0.0.1", ["6.6.6.6, nonsense, 10.0.0.2"], "10.0.0.2"),
    ("192.0.2.9", ["6.6.6.6"], "192.0.2.9"), ("10.0.0.1", ["[2001:db8::7]:80"], "2001:db8:0:0:0:0:0:7"),
    ("10.0.0.1", ["6.6.6.6" + String(repeating: ", 10.0.0.2", count: 40)], "10.0.0.2"), ("10.0.0.1", [""], "10.0.0.1"),
  ]

  @Test("only trusted proxies are believed, from the end of the list", arguments: hops)
  func forwarded(_ peer: String, _ lines: [String], _ expected: String) throws {
    let proxies = TrustedProxies([try #require(AddressRange(parsing: "10.0.0.0/8"))])
    let headers = HTTPHeaders(lines.map { ("X-Forwarded-For", $0) })
    let address = try #require(ClientAddress(parsing: peer))
    #expect(proxies.client(of: address, headers: headers).description == expected)
    #expect(TrustedProxies().client(of: address, headers: headers) == address)
  }

  static let kinds: [(HTTPMethod, String, RequestLimits.Kind)] = [
    (.GET, "/users/bob.json?x=1", .read), (.PUT, "/users/bob.json", .write), (.GET, "/.json", .read),
    (.POST, "/admin/v1.json", .write),
    (.GET, "/admin/v1/status", .admin), (.PUT, "/.settings/rules.json", .admin), (.POST, "/token", .admin),
    (.GET, "/.lp?start=t&ser=1", .connection), (.GET, "/.lp?id=1&pw=2", .read), (.GET, "/.ws?v=5", .connection),
    (.POST, "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", .account), (.POST, "/v1/accounts:signUp", .account),
    (.POST, "/v1/token", .account), (.POST, "/v1/shortLinks", .link), (.GET, "/healthz", .other), (.GET, "/", .other),
    (.GET, "/metrics", .admin), (.GET, "/console", .read), (.POST, "/invites/render", .link), (.HEAD, "/a.json", .read),
    (.GET, "/.well-known/assetlinks.json", .link), (.GET, "/.well-known/jwks.json", .account),
    // Spelt otherwise, as the router still understands it.
    (.POST, "//v1/accounts:lookup", .account), (.POST, "/%761/accounts:lookup", .account), (.POST, "/v1//token", .account),
    (.POST, "/v1/accounts%3AsignInWithPassword", .account), (.POST, "/v1/projects/game/accounts%3aquery", .account),
    (.POST, "http://host/v1/accounts:signUp", .account),
    (.POST, "/identitytoolkit%2Egoogleapis.com/v1/accounts:signUp", .account),
    (.POST, "/v2/accounts/mfaSignIn:start", .account), (.POST, "/%65mulator/action", .account),
    (.GET, "//admin/v1/status", .admin), (.GET, "/%61dmin/v1/status", .admin), (.GET, "/.%73ettings/owner", .admin),
    (.POST, "/token/", .admin), (.POST, "//%74oken", .admin), (.PUT, "http://host/users/bob.json", .write),
    (.POST, "//v1/shortLinks", .link), (.GET, "/.lp?st%61rt=t&ser=1", .connection), (.GET, "/.lp?id=1&pw=start", .read),
    (.GET, "nonsense", .other), (.GET, "/%ff", .other),
  ]

  @Test("what a request counts as", arguments: kinds)
  func kind(_ method: HTTPMethod, _ uri: String, _ expected: RequestLimits.Kind) {
    #expect(RequestKind.of(HTTPRequest(method: method, uri: uri)) == expected)
    if uri.hasPrefix("/users"), method == .GET {
      for accept in ["text/event-stream", "Text/Event-Stream"] {
        #expect(RequestKind.of(HTTPRequest(method: method, uri: uri, headers: ["Accept": accept])) == .connection)
      }
    }
  }
}

/// A proxy that nobody declared is noticed by the share of its address.
struct ProxySuspicionTests {
  private func suspect(_ addresses: [String], rounds: Int = 2000) throws -> String? {
    let suspicion = ProxySuspicion()
    let clients = try addresses.map { try #require(ClientAddress(parsing: $0)) }
    for round in 0..<rounds { suspicion.note(clients[round % clients.count]) }
    return suspicion.suspect?.description
  }

  @Test("One private address with most requests is named; a public one, a smaller share and a few requests are not")
  func shares() throws {
    #expect(try suspect(["10.0.0.5"]) == "10.0.0.5")
    #expect(try suspect(["172.31.0.1", "172.31.0.1", "172.31.0.1", "203.0.113.9"]) == "172.31.0.1")
    #expect(try suspect(["203.0.113.9"]) == nil)
    #expect(try suspect(["10.0.0.5", "10.0.0.6", "10.0.0.7"]) == nil)
    #expect(try suspect(["10.0.0.5"], rounds: 900) == nil)
    #expect(try suspect(["127.0.0.1"]) == nil)
  }

  @Test(
    "Private networks are told from public ones at their edges",
    arguments: [
      ("10.255.255.255", true), ("11.0.0.0", false), ("172.16.0.0", true), ("172.32.0.0", false), ("192.168.0.1", true),
      ("192.169.0.1", false), ("100.64.0.1", true), ("100.128.0.0", false), ("fd00::1", true), ("fe00::1", false),
      ("2001:db8::1", false),
    ])
  func networks(address: String, isPrivate: Bool) throws {
    #expect(try #require(ClientAddress(parsing: address)).isPrivate == isPrivate)
  }
}
