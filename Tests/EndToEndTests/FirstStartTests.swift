import NIOHTTP1
import Testing
import TreeModel

@testable import AdminClient

/// From an invitation link to coins, over HTTP alone, as a game does it: nobody but the server says who invited whom.
struct FirstStartTests {
  private static let host = "go.acme.test"
  private static let key = "web-key-1"
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]
  private static let iphone =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
  private static let android =
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"

  private static let settings: JSON = [
    "domains": ["https://go.acme.test/r"],
    "hosts": ["acme.test"],
    "apps": [
      "ios": [["bundleId": "test.acme.ios", "appStoreId": "900100200"]],
      "android": [["packageName": "test.acme.app", "sha256Fingerprints": []]],
    ],
    "apiKeys": [.string(key)],
  ]

  /// Players read their own record, and say that they are there and how far they came. Who invited them is the server's.
  private static let rules: JSON = [
    "rules": [
      "users": [
        "$uid": [
          ".read": "auth.uid === $uid",
          "last_signin_at": [".write": "auth.uid === $uid", ".validate": "newData.val() === now"],
          "level": [".write": "auth.uid === $uid"],
        ]
      ]
    ]
  ]

  /// A server with links and rules, what an administrator sees of it, and a game that has no more than its key.
  private struct Scene {
    let admin: AdminClient
    let game: AdminClient

    func link(_ query: String) async throws -> (link: String, code: String) {
      let made = try await game.post(
        "/v1/shortLinks", ["longDynamicLink": .string("https://go.acme.test/r/?\(query)")], query: [QueryItem("key", key)])
      return (try #require(made["shortLink"]?.string), try #require(made["code"]?.string))
    }

    func open(_ link: String, as agent: String) async throws -> AdminResponse {
      try await game.send(
        .GET, String(link.dropFirst("https://go.acme.test".count)), headers: ["Host": host, "User-Agent": agent])
    }

    /// What the page of an iPhone copies.
    func clipboard(_ link: String) async throws -> String {
      let page = String(decoding: try await open(link, as: iphone).body, as: UTF8.self)
      let start = try #require(page.firstRange(of: "data-copy=\""))
      return String(page[start.upperBound...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
    }

    func begin(_ proof: JSON.Member, bundle: String) async throws -> JSON {
      try await game.post(
        "/v1/players:begin", .object([.init(key: "bundleId", value: .string(bundle)), proof]), query: [QueryItem("key", key)])
    }

    /// Writes below a player's record as the player.
    func write(_ place: String, _ value: JSON, as player: JSON) async throws {
      let uid = try #require(player["localId"]?.string)
      let token = try #require(player["idToken"]?.string)
      _ = try await game.put("/users/\(uid)/\(place).json", value, query: [QueryItem("auth", token)], headers: waits)
    }

    func coins(_ uid: String) async throws -> JSON {
      try await admin.get("/users/\(uid)/inventory/pieces_of_eight.json")
    }

    func entries(_ uid: String) async throws -> [JSON] {
      try await admin.get("/admin/v1/ledger/statement", query: [QueryItem("account", "user:\(uid)")])["entries"]?.array ?? []
    }
  }

  private func run(_ test: (Scene) async throws -> Void) async throws {
    try await RunningServer.run { server in
      let game = try AdminClient(server: "http://\(server.client.address.authority)", token: nil)
      _ = try await server.client.put("/admin/v1/links/settings", Self.settings)
      _ = try await server.client.put("/.settings/rules.json", Self.rules)
      do {
        try await test(Scene(admin: server.client, game: game))
      } catch {
        await game.close()
        throw error
      }
      await game.close()
    }
  }

  private static let invitation =
    "link=https://acme.test/?gameid%3D7%26invitedby%3Dalice&apn=test.acme.app&ibi=test.acme.ios"
  private static let signIn: JSON = [".sv": "timestamp"]

  @Test("checks 56, 57: click, first start, account, referred_by by the server, 50 for the sign-up, the click as evidence")
  func iphone() async throws {
    try await run { scene in
      let (link, _) = try await scene.link(Self.invitation)
      let begun = try await scene.begin(
        .init(key: "link", value: .string(try await scene.clipboard(link))), bundle: "test.acme.ios")
      #expect(begun["attribution"]?["attributionConfidence"] == "UNIQUE" && begun["referredBy"] == "alice")
      let player = try #require(begun["player"])
      let uid = try #require(player["localId"]?.string)
      let token = try #require(player["idToken"])

      // The account is there, without a name, and the record says who invited it.
      let found = try await scene.game.post(
        "/v1/accounts:lookup", ["idToken": token], query: [QueryItem("key", Self.key)])
      #expect(found["users"]?.array?.first?["localId"]?.string == uid)
      #expect(found["users"]?.array?.first?["email"] == nil)
      let record = try await scene.game.get("/users/\(uid).json", query: [QueryItem("auth", token.string ?? "")])
      #expect(record == ["referred_by": "alice"])

      try await scene.write("last_signin_at", Self.signIn, as: player)
      #expect(try await scene.coins(uid) == 50)
      #expect(try await scene.coins("alice") == .null, "the sign-up pays the invited player alone")
      for level in 1...5 { try await scene.write("level", .int(Int64(level)), as: player) }
      #expect(try await scene.coins("alice") == 50)

      // Each entry names the click that it rests on.
      let click = try #require(begun["claim"]?["click"]?.string)
      for name in [uid, "alice"] {
        let entries = try await scene.entries(name)
        let evidence = try #require(entries.first?["referral"], "\(name)")
        #expect(entries.count == 1 && evidence["how"] == "click" && evidence["click"]?.string == click)
        #expect(
          evidence["inviter"] == "alice" && evidence["player"]?.string == uid
            && evidence["link"]?.string.map { "https://\($0)" } == link)
      }

      // Again and again: nothing more is paid.
      _ = try await scene.admin.delete("/users/\(uid)/last_signin_at.json", headers: Self.waits)
      try await scene.write("last_signin_at", Self.signIn, as: player)
      let replay = try await scene.admin.post("/admin/v1/replays", ["mode": "all", "reason": "a test"])
      #expect(replay["id"] != nil)
      _ = try await scene.admin.post("/admin/v1/drain")
      #expect(try await scene.coins(uid) == 50)
      #expect(try await scene.coins("alice") == 50)
      #expect(try await scene.admin.get("/admin/v1/ledger/verify")["sound"] == true)
    }
  }

  @Test("check 57: the way over the Play Store is the same, and a jump from 3 to 5 pays nobody")
  func android() async throws {
    try await run { scene in
      let (link, _) = try await scene.link(Self.invitation)
      let location = try #require(try await scene.open(link, as: Self.android).headers.first(name: "location"))
      let fallback = try #require(location.split(separator: "S.browser_fallback_url=").last?.split(separator: ";").first)
      let store = try #require(Self.decoded(fallback))
      let referrer = try #require(store.split(separator: "&referrer=").last.flatMap(Self.decoded))
      let begun = try await scene.begin(.init(key: "referrer", value: .string(referrer)), bundle: "test.acme.app")
      #expect(begun["referredBy"] == "alice" && begun["claim"]?["platform"] == "ANDROID")
      let player = try #require(begun["player"])
      try await scene.write("last_signin_at", Self.signIn, as: player)
      for level in [3, 5] { try await scene.write("level", .int(Int64(level)), as: player) }
      #expect(try await scene.coins(player["localId"]?.string ?? "") == 50)
      #expect(try await scene.coins("alice") == .null)
    }
  }

  @Test(
    "check 60: a player who invites themselves gets nothing, and the attempt is on record; no client writes who invited it")
  func forgery() async throws {
    try await run { scene in
      // Nobody invited this player.
      let player = try #require(try await scene.begin(.init(key: "code", value: ""), bundle: "test.acme.ios")["player"])
      let uid = try #require(player["localId"]?.string)
      let forged = await #expect(throws: AdminClientError.self) {
        try await scene.write("referred_by", "alice", as: player)
      }
      #expect(forged?.status == 401 && forged?.message == "Permission denied")

      let (_, code) = try await scene.link(Self.invitation.replacing("alice", with: uid))
      let claim = await #expect(throws: AdminClientError.self) {
        try await scene.game.post(
          "/v1/referrals:claim", ["code": .string(code)],
          headers: ["Authorization": "Bearer \(player["idToken"]?.string ?? "")"])
      }
      #expect(claim?.status == 400)
      try await scene.write("last_signin_at", Self.signIn, as: player)
      #expect(try await scene.coins(uid) == .null)
      let audits = try await scene.admin.get("/admin/v1/audits")
      #expect(audits["actions"]?.array?.contains { $0["action"] == "links.self_referral" } == true, "\(audits)")
    }
  }

  /// Undoes percent-encoding.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("The funnel and the leaderboard say how far a player came who came by a link; a replay of all changes nothing")
  func funnel() async throws {
    try await run { scene in
      let (link, _) = try await scene.link(Self.invitation)
      let begun = try await scene.begin(
        .init(key: "link", value: .string(try await scene.clipboard(link))), bundle: "test.acme.ios")
      let player = try #require(begun["player"])
      func stages() async throws -> [Int64?] {
        let totals = try await scene.admin.get("/admin/v1/links/funnel", query: [QueryItem("link", link)])["totals"]
        return ["clicks", "installs", "claims", "signedUp", "reached"].map { totals?[$0]?.int }
          + [totals?["coins"]?["pieces_of_eight"]?.int]
      }
      #expect(try await stages() == [1, 1, 1, 0, 0, nil])
      try await scene.write("last_signin_at", Self.signIn, as: player)
      try await scene.write("level", 4, as: player)
      #expect(try await stages() == [1, 1, 1, 1, 0, nil])
      try await scene.write("level", 5, as: player)
      #expect(try await stages() == [1, 1, 1, 1, 1, 50])
      _ = try await scene.admin.post("/admin/v1/replays", ["mode": "all", "reason": "test"])
      _ = try await scene.admin.post("/admin/v1/drain", [:])
      #expect(try await stages() == [1, 1, 1, 1, 1, 50])
      let leader = try await scene.admin.get("/admin/v1/referrals")["leaders"]?.array?.first
      #expect(
        leader == [
          "player": "alice", "referred": 1, "signedUp": 1, "reached": 1, "coins": ["pieces_of_eight": 50], "reversed": [:],
          "clicks": 1, "installs": 1,
        ])
      let entry = try #require(try await scene.entries("alice").first?["sequence"])
      _ = try await scene.admin.post("/admin/v1/ledger/reverse", ["sequence": entry, "reason": "test"])
      #expect(try await stages() == [1, 1, 1, 1, 1, 0])
      let after = try await scene.admin.get("/admin/v1/referrals")["leaders"]?.array?.first
      #expect(after?["coins"] == ["pieces_of_eight": 0] && after?["reversed"] == ["pieces_of_eight": 50])
    }
  }
}
