import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// `POST /v1/shortLinks` over a socket: what it reads, and what it answers. The rules are tested with `Links`.
@Suite struct LinkCreatingTests {
  static let plain = "link=https://acme.test/?invitedby%3Du42&apn=test.acme.app&ibi=test.acme.ios"

  @Test("a link is created, unguessable or short, and the same one is not made twice")
  func create() async throws {
    try await LinkServer.run { server in
      let (status, json) = try await server.create(Self.plain)
      #expect(status == 200)
      let short = try #require(json["shortLink"]?.string)
      #expect(json["previewLink"]?.string == short + "?d=1")
      #expect(short.wholeMatch(of: /https:\/\/go\.acme\.test\/r\/[0-9A-Za-z]{17}/) != nil, "\(short)")
      #expect(try await server.link(Self.plain) == short)
      #expect(try await server.link("apn=test.acme.app&ibi=test.acme.ios&link=https://acme.test/?invitedby%3Du42") == short)
      let brief = try await server.link(Self.plain, suffix: "{\"option\":\"SHORT\"}")
      #expect(brief.wholeMatch(of: /https:\/\/go\.acme\.test\/r\/[0-9A-Za-z]{4}/) != nil, "\(brief)")
    }
  }

  @Test("an object of parameters and the equal long link are one link")
  func form() async throws {
    try await LinkServer.run { server in
      let body = """
        {"dynamicLinkInfo":{"domainUriPrefix":"https://go.acme.test/r","link":"https://acme.test/?invitedby=u42",
         "androidInfo":{"androidPackageName":"test.acme.app","androidMinPackageVersionCode":"125"},
         "iosInfo":{"iosBundleId":"test.acme.ios","iosAppStoreId":"900100200","iosMinimumVersion":"1.0.1"},
         "navigationInfo":{"enableForcedRedirect":true},"socialMetaTagInfo":{"socialTitle":"Join me"},
         "analyticsInfo":{"googlePlayAnalytics":{"utmSource":"orkut"},"itunesConnectAnalytics":{"pt":"1"}}}}
        """
      let (status, json) = try await server.post("/v1/shortLinks", body)
      #expect(status == 200 && json.warnings == [], "\(json.compact)")
      let long =
        "link=https://acme.test/?invitedby%3Du42&apn=test.acme.app&amv=125&ibi=test.acme.ios&isi=900100200&imv=1.0.1&efr=1"
        + "&st=Join%20me&utm_source=orkut&pt=1"
      #expect(try await server.link(long) == json["shortLink"]?.string)
      let domain = body.replacing(
        "\"domainUriPrefix\":\"https://go.acme.test/r\"", with: "\"dynamicLinkDomain\":\"links.acme.test\"")
      #expect(
        try await server.post("/v1/shortLinks", domain).json["shortLink"]?.string?.hasPrefix("https://links.acme.test/") == true
      )
    }
  }

  /// What is refused: body, status, what the message says.
  static let refusals: [(String, Int, String)] = [
    ("{}", 400, "Expecting exactly one"),  // 6
    (
      #"{"longDynamicLink":"https://go.acme.test/r/?link=https://acme.test","dynamicLinkInfo":{}}"#, 400,
      "Expecting exactly one"
    ),
    (#"{"longDynamicLink":"https://evil.test/?link=https://acme.test"}"#, 400, "Dynamic Links domain: https://evil.test"),  // 8
    (
      #"{"dynamicLinkInfo":{"domainUriPrefix":"https://evil.test","link":"https://acme.test"}}"#, 400,
      "Dynamic Links domain: https://evil.test"
    ),
    (#"{"dynamicLinkInfo":{"domainUriPrefix":"http://go.acme.test/r","link":"https://acme.test"}}"#, 400, "https://HOST"),  // 9
    (#"{"dynamicLinkInfo":{"link":"https://acme.test"}}"#, 400, "Expecting exactly one"),
    (
      #"{"dynamicLinkInfo":{"domainUriPrefix":"https://go.acme.test/r","dynamicLinkDomain":"go.acme.test","link":"https://acme.test"}}"#,
      400, "Expecting exactly one"
    ),
    (#"{"longDynamicLink":"https://go.acme.test/r/?link=ftp://x"}"#, 400, "not an absolute http or https URL"),  // 10
    (#"{"longDynamicLink":"https://go.acme.test/r/?apn=a.b"}"#, 400, "missing"),
    (#"{"longDynamicLink":"https://go.acme.test/r/#link=https://acme.test"}"#, 400, "missing"),
    (#"{"longDynamicLink":"https://go.acme.test/r/?link=https://go.acme.test/r/abc"}"#, 400, "below the prefix"),  // 11
    (#"{"longDynamicLink":"https://go.acme.test/mypathabc/?link=https://acme.test"}"#, 400, "Dynamic Links domain"),
    (#"{"longDynamicLink":"https://go.acme.test/r/?link=https://evil.test"}"#, 400, "We could not match param 'link'"),
    (#"{"longDynamicLink":"https://go.acme.test/r/?link=https://acme.test&afl=https://evil.test"}"#, 400, "'afl'"),
    (#"{"longDynamicLink":"https://go.acme.test/r/?link=https://acme.test&ius=javascript"}"#, 400, "ius"),
    (#"{"longDynamicLink":"not a link"}"#, 400, "not parsable"),
    (#"{"longDynamicLink":5}"#, 400, "must be a text"),
    (#"{"longDynamicLink":"https://go.acme.test/r/?link=https://acme.test","suffix":{"option":"TINY"}}"#, 400, "suffix.option"),
    (
      #"{"longDynamicLink":"https://go.acme.test/r/?link=https://acme.test","suffix":{"option":"CUSTOM","customSuffix":"x"}}"#,
      403, "administrator"
    ),
    ("[1]", 400, "JSON object"), ("{", 400, ""),
  ]

  @Test("what is wrong is refused in Google's form, with what to do")
  func refused() async throws {
    try await LinkServer.run { server in
      for (body, status, words) in Self.refusals {
        let answer = try await server.post("/v1/shortLinks", body)
        #expect(answer.status == status, "\(body): \(answer.json.compact)")
        #expect(answer.json["error"]?["code"]?.int == Int64(status))
        #expect(answer.json["error"]?["status"]?.string == (status == 403 ? "PERMISSION_DENIED" : "INVALID_ARGUMENT"))
        #expect(answer.json["error"]?["message"]?.string?.contains(words) == true, "\(body): \(answer.json.compact)")
      }
      let long =
        "{\"longDynamicLink\":\"https://go.acme.test/r/?link=https://acme.test/\(String(repeating: "a", count: 7200))\"}"
      let answer = try await server.post("/v1/shortLinks", long)
      #expect(answer.status == 400, "check 21: a link of more than 7168 characters")
      let list = try await server.api.send("GET", "/admin/v1/links", headers: APIServer.admin)
      #expect(try JSONParser.parse(list.body)["links"]?.array?.isEmpty == true, "nothing was created")
    }
  }

  @Test("no key is 403, a wrong one 400; a key may be bound to an app and to methods")
  func keys() async throws {
    try await LinkServer.run { server in
      let body = "{\"longDynamicLink\":\"https://go.acme.test/r/?link=https://acme.test\"}"
      let rows: [(String?, [String: String], Int)] = [
        (nil, [:], 403), ("wrong", [:], 400), ("narrow", ["X-Ios-Bundle-Identifier": "test.acme.ios"], 403),
        (LinkServer.key, [:], 200), (nil, ["X-Goog-Api-Key": LinkServer.key], 200), (nil, APIServer.admin, 200),
        (nil, ["Authorization": "Bearer nonsense"], 401),
      ]
      for (key, headers, status) in rows {
        let answer = try await server.post("/v1/shortLinks", body, key: key, headers: headers)
        #expect(answer.status == status, "\(key ?? "no key") \(headers): \(answer.json.compact)")
        if status != 200 { #expect(answer.json["error"]?["code"]?.int == Int64(status)) }
      }
      let reopen = "{\"requestedLink\":\"https://go.acme.test/r/none\",\"bundleId\":\"test.acme.ios\"}"
      #expect(try await server.post("/v1/reopenAttribution", reopen, key: "narrow").status == 403, "bound to an app")
      let headers = ["X-Ios-Bundle-Identifier": "test.acme.ios"]
      #expect(try await server.post("/v1/reopenAttribution", reopen, key: "narrow", headers: headers).status == 404)
    }
  }

  @Test("patterns decide, everywhere, and are ten at most")
  func patterns() async throws {
    let settings = LinkServer.settings.replacing(
      "\"apiKeys\"", with: #""allowPatterns":["^https://([a-z]+\\.)?acme\\.test(/.*)?(\\?.*)?$"],"apiKeys""#)
    try await LinkServer.run(settings: settings) { server in
      #expect(try await server.create("link=https://www.acme.test/a").status == 200)
      #expect(try await server.create("link=https://acme.test?x%3D1").status == 200)
      for query in ["link=https://acme.test.evil.test/", "link=https://evil.test/https://acme.test/"] {
        let answer = try await server.create(query)
        #expect(answer.status == 400, "\(query)")
        #expect(answer.json["error"]?["message"]?.string?.contains("We could not match param 'link'") == true)
      }
      for parameter in ["afl", "ifl", "ipfl", "ofl", "al"] {
        let answer = try await server.create("link=https://acme.test&\(parameter)=https://evil.test/")
        #expect(answer.status == 400, "\(parameter)")
      }
      for patterns in [Array(repeating: "^a", count: 11), ["("], ["^(?=a)"], ["(a)\\1"], ["*"]] {
        let list = JSON.array(patterns.map(JSON.string)).compact
        let put = try await server.api.send(
          "PUT", "/admin/v1/links/settings", "{\"allowPatterns\":\(list)}", headers: APIServer.admin)
        #expect(put.status == 400, "\(list)")
      }
      let loose = try await server.api.send(
        "PUT", "/admin/v1/links/settings", "{\"allowPatterns\":[\"acme\"]}", headers: APIServer.admin)
      #expect(loose.status == 200 && loose.body.contains("not anchored"))
    }
  }

  @Test("administrators choose suffixes; one that is taken is 409")
  func custom() async throws {
    try await LinkServer.run { server in
      let suffix = #"{"option":"CUSTOM","customSuffix":"summer-24"}"#
      let link = try await server.link("link=https://acme.test/1", suffix: suffix, headers: APIServer.admin)
      #expect(link == "https://go.acme.test/r/summer-24")
      let again = try await server.create("link=https://acme.test/2", suffix: suffix, headers: APIServer.admin)
      #expect(again.status == 409 && again.json["error"]?["status"]?.string == "ALREADY_EXISTS")
      for word in ["i", "link", ".well-known", "v1", "admin", "a/b", "", "ä", String(repeating: "a", count: 65)] {
        let body = #"{"option":"CUSTOM","customSuffix":\#(JSON.string(word).compact)}"#
        let answer = try await server.create("link=https://acme.test/3", suffix: body, headers: APIServer.admin)
        #expect(answer.status == 400, "\(word)")
      }
    }
  }

  @Test("the sixth link in a second from one address waits")
  func rate() async throws {
    let settings = LinkServer.settings.replacing("1000", with: "5")
    try await LinkServer.run(settings: settings) { server in
      for index in 0..<5 { #expect(try await server.create("link=https://acme.test/\(index)").status == 200) }
      let (status, json) = try await server.create("link=https://acme.test/6")
      #expect(status == 429 && json["error"]?["status"]?.string == "RESOURCE_EXHAUSTED")
      server.api.clock.advance(by: 1000)
      #expect(try await server.create("link=https://acme.test/6").status == 200)
    }
  }

  @Test("a managed link has a name and belongs to administrators")
  func managed() async throws {
    try await LinkServer.run { server in
      let body = "{\"longDynamicLink\":\"https://go.acme.test/r/?link=https://acme.test/m&st=Hi\",\"name\":\"poster\"}"
      #expect(try await server.post("/v1/managedShortLinks:create", body).status == 401)
      let (status, json) = try await server.post("/v1/managedShortLinks:create", body, headers: APIServer.admin)
      let link = json["managedShortLink"]
      #expect(status == 200 && link?["linkName"]?.string == "poster" && link?["visibility"]?.string == "UNARCHIVED")
      #expect(link?["info"]?["socialMetaTagInfo"]?["socialTitle"]?.string == "Hi")
      #expect(link?["creationTime"]?.string == String(APIServer.start))
    }
  }
}
