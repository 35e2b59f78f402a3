import Links
import ServerTestSupport
import Testing
import TreeModel

/// Bringing links along, looking at them, and codes to print.
@Suite struct LinkTableTests {
  @Test("imported links keep their suffixes on a domain of one's own, and a second import changes nothing")
  func importing() async throws {
    try await LinkServer.run { server in
      let csv = """
        Link name,Short link,Long link\r
        poster,https://acme.page.link/AbC1,"https://acme.page.link/?link=https://acme.test/a%3Fx%3D1&apn=test.acme.app"\r
        ,https://acme.page.link/xyz_9,https://acme.test/b\r
        ,https://acme.page.link/evil,https://evil.test/\r
        ,no link,https://acme.test/c\r

        """
      func take(_ more: String) async throws -> JSON {
        let body = "{\"csv\":\(JSON.string(csv).compact),\"prefix\":\"https://go.acme.test/r\"\(more)}"
        let answer = try await server.api.send("POST", "/admin/v1/links/import", body, headers: APIServer.admin)
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONParser.parse(answer.body)
      }
      #expect(try await take(",\"dryRun\":true")["created"]?.int == 2)
      #expect(try await server.open("https://go.acme.test/r/AbC1", as: .desktop).status == 404, "nothing was created")
      let report = try await take("")
      #expect(report["created"]?.int == 2 && report["refused"]?.int == 2)
      #expect(report["rows"]?.array?.map { $0["row"]?.int } == [4, 5])
      #expect(try await server.open("https://go.acme.test/r/AbC1", as: .desktop)["location"] == "https://acme.test/a?x=1")
      #expect(try await server.open("https://go.acme.test/r/xyz_9", as: .desktop)["location"] == "https://acme.test/b")
      #expect(try await server.open("https://go.acme.test/r/abc1", as: .desktop).status == 404)
      let again = try await take("")
      #expect(again["unchanged"]?.int == 2 && again["created"]?.int == 0)
      let list = try await server.api.send("GET", "/admin/v1/links?limit=1", headers: APIServer.admin)
      let page = try JSONParser.parse(list.body)
      #expect(page["links"]?.array?.first?["name"]?.string == "poster" && page["next"]?.string == "go.acme.test/r/AbC1")
      let next = try await server.api.send(
        "GET", "/admin/v1/links?limit=5&cursor=go.acme.test%2Fr%2FAbC1", headers: APIServer.admin)
      #expect(try JSONParser.parse(next.body)["links"]?.array?.count == 1)
    }
  }

  @Test("a link is shown by its address, with or without https")
  func show() async throws {
    try await LinkServer.run { server in
      let link = try await server.link("link=https://acme.test/a&st=Hi")
      for text in [link, String(link.dropFirst(8)), link + "/", link + "?cid=x"] {
        let answer = try await server.api.send(
          "GET", "/admin/v1/links/link?link=\(text.replacing("?", with: "%3F"))", headers: APIServer.admin)
        #expect(
          answer.status == 200 && answer.json?["longLink"]?.string?.contains("link=https%3A%2F%2Facme.test%2Fa") == true,
          "\(text)")
      }
      #expect(try await server.api.send("GET", "/admin/v1/links/link?link=none.test/x", headers: APIServer.admin).status == 404)
    }
  }

  @Test("codes come as SVG and PNG")
  func codes() async throws {
    try await LinkServer.run { server in
      let svg = try await server.api.send("GET", "/admin/v1/links/qr?link=https://go.acme.test/r/abc", headers: APIServer.admin)
      #expect(svg.status == 200 && svg["content-type"] == "image/svg+xml" && svg.body.hasPrefix("<svg"))
      let png = try await server.api.send(
        "GET", "/admin/v1/links/qr?link=https://go.acme.test/r/abc&format=png&scale=4", headers: APIServer.admin)
      #expect(png.status == 200 && png["content-type"] == "image/png")
      for query in ["link=javascript:x", "link=https://a.test&scale=65", "link=https://a.test&format=gif"] {
        let answer = try await server.api.send("GET", "/admin/v1/links/qr?\(query)", headers: APIServer.admin)
        #expect(answer.status == 400, "\(query)")
      }
    }
  }

  @Test(
    "settings say which member is wrong",
    arguments: [
      ("{\"domain\":[]}", "domain"), ("{\"domains\":[\"http://a.test\"]}", "https://HOST"),
      ("{\"domains\":[\"https://a.test/admin\"]}", "/admin"),
      ("{\"domains\":[\"https://a.test\",\"https://A.test/\"]}", "twice"),
      ("{\"apps\":{\"ios\":[{}]}}", "bundleId"),
      ("{\"apps\":{\"ios\":[{\"bundleId\":\"a\",\"appStoreId\":\"x\"}]}}", "appStoreId"),
      ("{\"apps\":{\"android\":[{\"packageName\":\"a\",\"sha256Fingerprints\":[\"AA\"]}]}}", "fingerprint"),
      ("{\"apps\":{\"ios\":[{\"bundleId\":\"a\",\"customScheme\":\"javascript\"}]}}", "customScheme"),
      ("{\"referral\":{\"path\":\"/users/x\"}}", "{uid}"), ("{\"heuristics\":{\"windowHours\":48}}", "windowHours"),
      ("{\"referral\":{\"path\":\"/users/{uid}/{game}/by\"}}", "open nowhere else"),
      ("{\"referral\":{\"signedInPath\":\"/users/{uid}/*/at\"}}", "open nowhere else"),
      ("{\"hosts\":[\"a b\"]}", "hosts"), ("{\"apiKeys\":[{\"key\":\"a\",\"methods\":[\"delete\"]}]}", "methods"),
    ])
  func settings(_ body: String, _ words: String) async throws {
    try await LinkServer.run { server in
      let answer = try await server.api.send("PUT", "/admin/v1/links/settings", body, headers: APIServer.admin)
      #expect(answer.status == 400 && answer.body.contains(words), "\(answer.body)")
      let kept = try await server.api.send("GET", "/admin/v1/links/settings", headers: APIServer.admin)
      #expect(kept.body.contains("https://links.acme.test"), "what was there stays")
      let back = try await server.api.send("PUT", "/admin/v1/links/settings", kept.body, headers: APIServer.admin)
      #expect(back.status == 200 && back.body == kept.body, "what is read can be written")
    }
  }
}
