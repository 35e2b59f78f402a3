import NIOHTTP1
import ServerTestSupport
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer

/// What a web page that the developer happens to open may do to a server in development.
struct DevelopmentOriginsTests {
  static let hosts: [(String, Bool)] = [
    ("localhost:9000", true), ("LOCALHOST", true), ("127.0.0.1:9000", true), ("[::1]:9000", true), ("192.168.1.20:9000", true),
    ("[2001:db8::7]", true), ("doubloon:9000", true), ("host.docker.internal:9000", true), ("demo.localhost:9000", true),
    ("nas.local", true), ("build.test:1", true), ("pi.home.arpa", true), ("game.studio.example:443", true),
    ("GAME.studio.example", true), ("", true),
    ("evil.example", false), ("evil.example:9000", false), ("localhost.evil.example", false), ("127.0.0.1.evil.example", false),
    ("127.0.0.1.nip.io", false), ("127.0.0.1.nip.io:9000", false), (".internal", false), ("x.internal.evil.example", false),
    ("other.studio.example", false), ("[::1", false),
    ("a b.test", false), ("user@localhost", false),
  ]

  @Test("The host must be an address, a name that nobody else can own, or one that was allowed", arguments: hosts)
  func hostHeader(_ host: String, _ isTrusted: Bool) {
    let origins = DevelopmentOrigins(allowing: ["Game.studio.example"])
    #expect(origins.trustsHost(["Host": host]) == isTrusted)
    #expect(origins.error(of: ["Host": host])?.status == (isTrusted ? nil : .misdirectedRequest))
    #expect(!origins.trustsHost(["Host": host, "host": "evil.example"]))
  }

  static let pages: [(host: String, origin: String, isTrusted: Bool)] = [
    ("localhost:9000", "http://localhost:5173", true), ("localhost:9000", "http://127.0.0.1:80", true),
    ("127.0.0.1:9000", "https://[::1]:3000", true), ("localhost:9000", "http://app.localhost", true),
    ("localhost:9000", "capacitor://localhost", true), ("192.168.1.20:9000", "http://192.168.1.20:5173", true),
    ("doubloon:9000", "http://doubloon", true), ("[2001:db8::7]:9000", "http://[2001:db8::7]:5173", true),
    ("localhost:9000", "https://evil.example", false), ("localhost:9000", "null", false), ("localhost:9000", "", false),
    ("localhost:9000", "http://192.168.1.20:5173", false), ("192.168.1.20:9000", "http://192.168.1.21:5173", false),
    ("localhost:9000", "https://localhost.evil.example", false), ("localhost:9000", "https://127.evil.example", false),
    ("localhost:9000", "chrome-extension://abcdefgh", false), ("localhost:9000", "http://evil.example@localhost", false),
    ("", "https://evil.example", false),
  ]

  @Test("A page must be this machine's, or the host's own", arguments: pages)
  func originHeader(_ host: String, _ origin: String, _ isTrusted: Bool) {
    let origins = DevelopmentOrigins()
    #expect(origins.error(of: ["Host": host, "Origin": origin])?.status == (isTrusted ? nil : .forbidden))
    #expect(origins.trusts(["Host": host, "Origin": origin]) == isTrusted)
    #expect(!origins.trusts(["Host": host, "Origin": origin, "origin": "https://evil.example"]))
  }

  @Test("A script's or picture's address on a page of another site has no origin, and is known by what the browser adds")
  func embedded() {
    let origins = DevelopmentOrigins()
    for (site, isTrusted) in [("cross-site", false), ("same-site", true), ("same-origin", true), ("none", true)] {
      #expect(origins.trusts(["Host": "localhost:9000", "Sec-Fetch-Site": site]) == isTrusted)
    }
  }

  static let administrativePaths = [
    "/admin/v1/status", "//admin//v1/status", "/%61dmin/v1/status", "/.settings/rules.json", "/.inspect/users", "/console",
    "/emulator/v1/projects/game/config", "/admin/v1/nothing",
  ]

  @Test("What administers the server is closed to other hosts and pages, at the preflight too", arguments: administrativePaths)
  func administered(_ path: String) async throws {
    try await APIServer.run(accounts: .development) { server in
      for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
        let rebound = try await server.send(method, path, "{}", headers: APIServer.admin, host: "evil.example:9000")
        #expect(rebound.status == 421, "\(method)")
        #expect(rebound.body.contains("--allow-host NAME"))
        var headers = APIServer.admin
        headers["Origin"] = "https://evil.example"
        #expect(try await server.send(method, path, "{}", headers: headers).status == 403, "\(method)")
      }
      for host in ["doubloon:9000", "host.docker.internal:9000", "192.168.1.20:9000"] {
        var headers = APIServer.admin
        if host.hasPrefix("192") { headers["Origin"] = "http://192.168.1.20:5173" }
        let status = try await server.send("GET", path, headers: headers, host: host).status
        #expect(status == 200 || status == 404, "\(host)")
      }
    }
  }

  static let rules = #"{"rules": {"open": {".read": true, ".write": true}}}"#

  @Test("Nobody else's page speaks as owner to the tree, in a header, in the address, or by an unsigned token")
  func tree() async throws {
    // {"alg":"none"}.{"v":0,"admin":true,"d":{}}.
    let legacy = "eyJhbGciOiJub25lIn0.eyJ2IjowLCJhZG1pbiI6dHJ1ZSwiZCI6e319."
    let foreign = ["Origin": "https://evil.example"]
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin),
        .init("PUT", "/secret.json", "1", headers: APIServer.admin, is: "1"),
        .init("GET", "/secret.json?auth=\(legacy)", is: "1"), .init("GET", "/secret.json?access_token=owner", is: "1"),
        // Clients of the game go on: the tree keeps its answers to every page.
        .init(
          "PUT", "/open.json", "2", headers: foreign, is: "2",
          having: ["access-control-allow-origin": "*"]),
        .init("OPTIONS", "/open.json", headers: foreign))
      let pages = [foreign, ["Sec-Fetch-Site": "cross-site"]]
      for page in pages {
        for query in ["auth=owner", "access_token=owner", "auth=\(legacy)", "auth=owner&callback=steal"] {
          try await server.expect(.init("GET", "/secret.json?\(query)", headers: page, status: 401))
        }
        let answer = try await server.send(
          "DELETE", "/secret.json", headers: page.merging(APIServer.admin) { $1 })
        #expect(answer.status == 401)
        #expect(answer.body.contains("--allow-host NAME"))
      }
      #expect(
        try await server.send("GET", "/secret.json?ns=game", headers: APIServer.admin, host: "evil.example").status == 401)
      try await server.expect(.init("GET", "/secret.json", headers: APIServer.admin, is: "1"))
    }
  }

  @Test("A socket takes clients of every page, and owner from none that is foreign", arguments: ["auth", "gauth"])
  func socket(_ action: String) async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/.settings/rules.json", Self.rules, headers: APIServer.admin))
      for (origin, status) in [("https://evil.example", "invalid_token"), ("http://localhost:5173", "ok")] {
        var headers = SocketClient.handshake
        headers["Origin"] = origin
        let (client, answer) = try await SocketClient.open(to: server.port, headers: headers)
        #expect(answer.hasPrefix("HTTP/1.1 101"))
        _ = try await client.next()
        try await client.request(#"{"r":1,"a":"p","b":{"p":"/open","d":1}}"#)
        #expect(try await client.answer() == #"{"r":1,"b":{"s":"ok","d":""}}"#)
        try await client.request(#"{"r":2,"a":"\#(action)","b":{"cred":"owner"}}"#)
        #expect(try await client.answer()?.contains(#""s":"\#(status)""#) == true, "\(origin)")
        try await client.close()
      }
    }
  }

  @Test("Account calls serve every page, and owner from none that is foreign")
  func accounts() async throws {
    try await APIServer.run(accounts: .development) { (server: APIServer) async throws in
      let path = "/identitytoolkit.googleapis.com/v1/projects/game/accounts:query"
      for headers in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
        #expect(try await server.send("POST", "/v1/accounts:signUp?key=k", "{}", headers: headers).status == 200)
        for bearer in ["owner", "OWNER", "ya29.anything"] {
          let all = headers.merging(["Authorization": "Bearer \(bearer)"]) { $1 }
          #expect(try await server.send("POST", path, "{}", headers: all).status == 401, "\(bearer)")
        }
      }
      #expect(try await server.send("POST", path, "{}", headers: APIServer.admin).status == 200)
      // The page where a popup chooses an account shows who has one: to no host that was rebound.
      let page = "/emulator/auth/handler?apiKey=k&providerId=google.com&redirectUrl=http%3A%2F%2Flocalhost%2F"
      #expect(try await server.send("GET", page, host: "evil.example").status == 401)
      #expect(try await server.send("GET", page, headers: ["Sec-Fetch-Site": "cross-site"]).status != 401)
    }
  }

  @Test("Links are made in owner's name by no foreign page")
  func links() async throws {
    try await APIServer.run { (server: APIServer) async throws in
      let headers = ["Origin": "https://evil.example"].merging(APIServer.admin) { $1 }
      #expect(try await server.send("POST", "/v1/managedShortLinks:create", "{}", headers: headers).status == 401)
    }
  }

  @Test("A token that nobody can guess is believed from everywhere but on what administers the server")
  func secretToken() async throws {
    let access = AccessPolicy(mode: .development, adminTokens: [AdminToken(name: "owner", secret: "9f86d081884c7d65")])
    try await APIServer.run(access: access) { server in
      let headers = ["Authorization": "Bearer 9f86d081884c7d65", "Origin": "https://evil.example"]
      try await server.expect(
        .init("PUT", "/a.json", "1", headers: headers, is: "1"), .init("GET", "/admin/v1/status", headers: headers, status: 403)
      )
    }
  }
}
