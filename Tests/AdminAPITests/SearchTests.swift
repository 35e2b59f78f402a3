import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// What is looked for by a text: accounts, and whatever else has a name.
struct SearchTests {
  private func accounts(_ server: APIServer, _ query: String) async throws -> (uids: [String], answer: JSON) {
    let response = try await server.send("GET", "/admin/v1/accounts?\(query)", headers: APIServer.admin)
    #expect(response.status == 200, "\(query): \(response.body)")
    let answer = try #require(response.json)
    return ((answer["accounts"]?.array ?? []).compactMap { $0["localId"]?.string }, answer)
  }

  private func prepare(_ server: APIServer) async throws {
    let client = IdentityClient(server: server)
    for account in [
      ["localId": "ann", "email": "zoe@x.io", "password": "secret1"], ["localId": "anna"],
      ["localId": "bob", "email": "ann@x.io", "password": "secret1", "displayName": "Bob"],
      ["localId": "cem", "email": "annabel@y.io", "disabled": true, "password": "secret1"], ["localId": "dan"],
    ] as [JSON] {
      #expect(try await client.admin("accounts", account).status == 200)
    }
  }

  @Test("Accounts are found by the beginning of uid or address, by provider and by state, page by page, each once")
  func accounts() async throws {
    try await APIServer.run(accounts: .development) { server in
      try await prepare(server)
      for (query, expected) in [
        ("q=ann", ["ann", "anna", "bob", "cem"]), ("q=ANN", ["bob", "cem"]), ("q=ann@x.io", ["bob"]), ("q=bob", ["bob"]),
        ("q=zo", ["ann"]), ("q=nobody", []), ("state=disabled", ["cem"]), ("state=anonymous", ["anna", "dan"]),
        ("state=enabled", ["ann", "anna", "bob", "dan"]), ("provider=password", ["ann", "bob", "cem"]),
        ("provider=google.com", []), ("q=ann&state=enabled", ["ann", "anna", "bob"]),
        ("q=ann&provider=password&state=disabled", ["cem"]), ("sort=email", ["bob", "cem", "ann"]),
        ("sort=email&q=ann", ["bob", "cem"]), ("sort=email&q=ann@x.io", ["bob"]), ("sort=email&state=enabled", ["bob", "ann"]),
        ("sort=email&q=nobody", []), ("sort=uid&q=ann", ["ann", "anna", "bob", "cem"]),
      ] as [(String, [String])] {
        let found = try await accounts(server, query)
        #expect(found.uids == expected, "\(query)")
        #expect(found.answer["scanned"]?.int ?? -1 >= Int64(expected.count) && found.answer["next"] == nil, "\(query)")
        #expect(found.answer["count"]?.int == Int64(expected.count))
        var pages: [String] = []
        var next: String?
        repeat {
          let page = try await accounts(server, query + "&limit=1" + (next.map { "&cursor=\($0)" } ?? ""))
          pages += page.uids
          next = page.answer["next"]?.string
        } while next != nil
        #expect(pages == expected, "\(query)")
      }
      let all = try await accounts(server, "limit=2")
      #expect(all.uids == ["ann", "anna"] && all.answer["count"] == 5 && all.answer["scanned"] == nil)
      for query in [
        "q=ann&cursor=odd", "q=a&email=ann@x.io", "state=odd", "q=", "sort=odd", "sort=email&cursor=uid:ann",
        "sort=email&email=ann@x.io",
      ] {
        try await server.expect(.init("GET", "/admin/v1/accounts?\(query)", headers: APIServer.admin, status: 400))
      }
    }
  }

  @Test("A filter that admits few stops after two thousand accounts, and says where to go on")
  func bound() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      for hundred in 0..<21 {
        let users = (0..<100).map { ["localId": .string("u\(100_000 + hundred * 100 + $0)")] as JSON }
        #expect(try await client.admin("accounts:batchCreate", ["users": .array(users)]).status == 200)
      }
      let first = try await accounts(server, "state=disabled")
      #expect(first.uids.isEmpty && first.answer["scanned"] == 2000)
      #expect(first.answer["next"] == "uid:u101999")
      let rest = try await accounts(server, "state=disabled&cursor=uid:u101999")
      #expect(rest.uids.isEmpty && rest.answer["scanned"] == 100 && rest.answer["next"] == nil)
    }
  }

  private func hits(_ server: APIServer, _ text: String) async throws -> [String] {
    let response = try await server.send("GET", "/admin/v1/find?q=\(text)", headers: APIServer.admin)
    #expect(response.status == 200, "\(text): \(response.body)")
    return (response.json?["hits"]?.array ?? []).map { "\($0["kind"]?.string ?? "") \($0["id"]?.string ?? "")" }
  }

  @Test("A text is found as what it names: player, account, event, entry, path, short link; or as nothing")
  func find() async throws {
    try await APIServer.run(participants: [EveryChange()], accounts: .development) { server in
      try await server.expect(
        .init("PUT", "/admin/v1/links/settings", LinkServer.settings, headers: APIServer.admin),
        .init("PUT", "/users/bob/level.json", "5"),
        .init(
          "POST", "/admin/v1/ledger/transfer", #"{"debit":"issuance:gift","credit":"user:bob","amount":50,"key":"gift/bob"}"#,
          headers: APIServer.admin))
      try await prepare(server)
      let link = try await LinkServer(api: server).link("link=https%3A%2F%2Facme.test%2F")
      let key = String(link.dropFirst("https://".count))
      let order =
        #"{"prefix":"\#(LinkServer.prefix)","option":"CUSTOM","suffix":"ann","inviter":"ann","parameters":{"link":"https://acme.test/"}}"#
      let invitation = try await server.send("POST", "/admin/v1/links", order, headers: APIServer.admin)
      let code = try #require(invitation.json?["link"]?["code"]?.string, "\(invitation.body)")
      let typed = "\(code.prefix(4).lowercased())-\(code.suffix(4))"
      for (text, expected) in [
        ("bob", ["player bob", "account bob"]), ("%20bob%0A", ["player bob", "account bob"]),
        ("ANN@x.io", ["player bob", "account bob"]), ("dan", ["account dan"]),
        ("1-1:/users/bob/level", ["event 1-1:/users/bob/level"]), ("%231", ["entry 1"]), ("1", ["entry 1"]),
        ("gift/bob", ["entry 1"]), ("/users/bob", ["path /users/bob"]), ("/users/bob/level/", ["path /users/bob/level"]),
        ("/users/nobody", []), ("/a$b", []), ("nothing", []), ("99", []), ("1-9:/users/bob/level", []),
        (link, ["link \(key)"]), (key, ["link \(key)"]), ("%20", []),
        (code, ["link go.acme.test/r/ann"]), (typed, ["link go.acme.test/r/ann"]), (String(code.reversed()) + "A", []),
      ] as [(String, [String])] {
        #expect(try await hits(server, text) == expected, "\(text)")
      }
      let found = try await server.send("GET", "/admin/v1/find?q=\(code)", headers: APIServer.admin)
      #expect(found.json?["hits"]?.array?.first?["detail"]?.string == "invitation code \(code) of ann")
      let entry = try await server.send("GET", "/admin/v1/find?q=%231", headers: APIServer.admin).json?["hits"]?.array?.first
      #expect(entry?["title"] == "50 pieces_of_eight from issuance:gift to user:bob")
      #expect(entry?["detail"] == "transfer, key gift/bob")
      try await server.expect(
        .init("GET", "/admin/v1/find", headers: APIServer.admin, status: 400),
        .init("GET", "/admin/v1/find?q=", headers: APIServer.admin, status: 400),
        .init("GET", "/admin/v1/find?q=bob&ns=none", headers: APIServer.admin, status: 404))
    }
  }
}
