import ServerTestSupport
import Testing
import TreeModel

/// Administrators create links, see before what visitors get, and find them.
@Suite struct LinkMakingTests {
  private func send(_ server: LinkServer, _ path: String, _ body: JSON) async throws -> (status: Int, json: JSON) {
    let answer = try await server.api.send("POST", "/admin/v1/links\(path)", body.compact, headers: APIServer.admin)
    return (answer.status, try JSONParser.parse(answer.body))
  }

  private func get(_ server: LinkServer, _ path: String) async throws -> JSON {
    let answer = try await server.api.send("GET", "/admin/v1/\(path)", "", headers: APIServer.admin)
    #expect(answer.status == 200, "\(answer.body)")
    return try JSONParser.parse(answer.body)
  }

  private static let prefix: JSON = "https://go.acme.test/r"

  @Test("A link is created with inviter, name and own suffix, opens what it says, and is found by each")
  func create() async throws {
    try await LinkServer.run { server in
      let order: JSON = [
        "prefix": Self.prefix, "option": "CUSTOM", "suffix": "summer", "name": "Poster", "inviter": "alice",
        "parameters": [
          "link": "https://acme.test/play?a=1&b=2+3", "ibi": "test.acme.ios", "st": "<b>Come & \"play\"</b>",
          "utm_campaign": "summer", "sd": "",
        ],
      ]
      let (status, json) = try await send(server, "", order)
      #expect(status == 200, "\(json.compact)")
      #expect(json["link"]?["shortLink"] == "https://go.acme.test/r/summer" && json["link"]?["inviter"] == "alice")
      #expect(json["link"]?["code"]?.string?.isEmpty == false && json["repeated"] == false)
      #expect(json["link"]?["info"]?["socialMetaTagInfo"] == ["socialTitle": "<b>Come & \"play\"</b>"])
      #expect(
        try await server.open("https://go.acme.test/r/summer", as: .desktop)["location"] == "https://acme.test/play?a=1&b=2+3")
      for filter in ["q=poster", "inviter=alice", "campaign=summer"] {
        #expect(try await get(server, "links?\(filter)")["links"]?.array?.count == 1, "\(filter)")
      }
      for filter in ["q=nothing", "inviter=alic", "campaign=summe"] {
        let answer = try await get(server, "links?\(filter)")
        #expect(answer["links"]?.array?.isEmpty == true && answer["next"] == nil, "\(filter)")
      }
      #expect(try await send(server, "", order).status == 409)
      // The same without a chosen suffix is one link.
      let plain: JSON = ["prefix": Self.prefix, "option": "SHORT", "parameters": ["link": "https://acme.test/p"]]
      let first = try await send(server, "", plain).json
      let second = try await send(server, "", plain).json
      #expect(first["link"]?["shortLink"] == second["link"]?["shortLink"] && second["repeated"] == true)
    }
  }

  @Test("What is wrong is refused with what to do, and a preview says the same without an error")
  func refusals() async throws {
    try await LinkServer.run { server in
      let bad: [(JSON, JSON, String)] = [
        ("https://evil.test", ["link": "https://acme.test"], "domains"),
        (Self.prefix, ["link": "https://evil.test"], "hosts"), (Self.prefix, ["link": "javascript:alert(1)"], "http"),
        (Self.prefix, [:], "missing"), (Self.prefix, ["link": "https://acme.test", "zzz": "1"], "zzz"),
        (Self.prefix, ["link": "https://go.acme.test/r/x"], "below the prefix"),
        (Self.prefix, ["link": "https://acme.test", "ius": "javascript"], "ius"),
      ]
      for (prefix, parameters, word) in bad {
        let (status, json) = try await send(server, "", ["prefix": prefix, "parameters": parameters])
        #expect(status == 400 && json["error"]?.string?.contains(word) == true, "\(json.compact)")
        let preview = try await send(server, "/preview", ["prefix": prefix, "parameters": parameters])
        #expect(preview.status == 200 && preview.json["error"]?.string?.contains(word) == true, "\(preview.json.compact)")
      }
      let link: JSON = ["link": "https://acme.test"]
      #expect(try await send(server, "", ["prefix": Self.prefix, "parameters": link, "suffix": "admin"]).status == 400)
      #expect(try await send(server, "", ["prefix": Self.prefix, "parameters": link, "inviter": "a/b"]).status == 400)
      #expect(try await send(server, "/preview", ["link": "https://go.acme.test/r/none"]).status == 404)
      #expect(try await send(server, "/preview", [:]).status == 400)
    }
  }

  @Test("A preview says what each device gets, in steps and with warnings, and counts no click")
  func preview() async throws {
    try await LinkServer.run { server in
      let parameters: JSON = [
        "link": "https://acme.test/?invitedby=alice", "ibi": "test.acme.ios", "apn": "test.acme.app", "amv": "x", "st": "Come",
        "ofl": "https://acme.test/pc",
      ]
      let (_, told) = try await send(server, "/preview", ["prefix": Self.prefix, "parameters": parameters])
      let devices = told["devices"]?.array ?? []
      #expect(devices.compactMap { $0["device"]?.string } == ["iphone", "ipad", "android", "desktop"])
      #expect(devices.compactMap { $0["outcome"]?.string } == ["page", "page", "redirect", "redirect"])
      #expect(devices.last?["target"] == "https://acme.test/pc" && devices.allSatisfy { $0["steps"]?.array?.isEmpty == false })
      #expect(devices.first?["target"]?.string?.hasPrefix("https://apps.apple.com/app/id900100200") == true)
      #expect(told["card"]?["title"] == "Come" && told["inviter"] == "alice")
      #expect(told.warnings == ["NOT_INTEGER_ANDROID_PACKAGE_MIN_VERSION"])
      let link = try await server.link("link=https://acme.test/&ibi=test.acme.ios&efr=1")
      let there = try await send(server, "/preview", ["link": .string(link)]).json
      #expect(there["devices"]?.array?.first?["outcome"] == "redirect")
      #expect(try await server.counts(link).isEmpty)
    }
  }

  @Test("A funnel of a link counts clicks and claims, and names exactly one of link, inviter, campaign")
  func funnel() async throws {
    try await LinkServer.run { server in
      let (_, made) = try await send(
        server, "",
        ["prefix": Self.prefix, "inviter": "alice", "parameters": ["link": "https://acme.test/", "ibi": "test.acme.ios"]])
      let link = try #require(made["link"]?["shortLink"]?.string)
      let copied = try await server.clipboard(link)
      _ = try await server.open(link, as: .desktop)
      let claimed = try await server.post(
        "/v1/referrals:claim", "{\"link\":\(JSON.string(copied).compact)}", key: nil, headers: LinkServer.token("bob"))
      #expect(claimed.status == 200, "\(claimed.json.compact)")
      for name in ["link=\(link)", "inviter=alice"] {
        let funnel = try await get(server, "links/funnel?\(name)")
        #expect(funnel["totals"]?["clicks"] == 2 && funnel["totals"]?["claims"] == 1, "\(funnel.compact)")
        #expect(funnel["days"]?.array?.compactMap { $0["platform"]?.string } == ["DESKTOP", "IOS"])
      }
      let later = APIServer.start + 86_400_000
      #expect(try await get(server, "links/funnel?inviter=alice&since=\(later)")["totals"]?["claims"] == 0)
      for query in ["", "?inviter=", "?inviter=a%2Fb", "?inviter=a&campaign=b", "?link=go.acme.test/r/none"] {
        let answer = try await server.api.send("GET", "/admin/v1/links/funnel\(query)", "", headers: APIServer.admin)
        #expect([400, 404].contains(answer.status))
      }
    }
  }
}
