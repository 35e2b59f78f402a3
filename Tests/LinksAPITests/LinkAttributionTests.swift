import Links
import ServerTestSupport
import StorageCore
import Testing
import TextFormats
import TreeModel

@testable import HTTPServer

/// Files for phones, attribution and counts, over a socket. The rules are tested with `Links`.
@Suite struct LinkAttributionTests {
  static let query =
    "link=https://acme.test/?gameid%3D7%26invitedby%3Du42&apn=test.acme.app&amv=125&ibi=test.acme.ios&imv=1.0.1&utm_source=orkut&st=Alice%20invites%20you"

  @Test("the association file stands at both places and names the apps with an App ID prefix")
  func apple() async throws {
    try await LinkServer.run { server in
      let paths = ["/.well-known/apple-app-site-association", "/apple-app-site-association"]
      for host in [LinkServer.host, "links.acme.test"] {
        var bodies: [String] = []
        for path in paths {
          let answer = try await server.api.send("GET", path, host: host)
          #expect(answer.status == 200 && answer["content-type"] == "application/json")
          bodies.append(answer.body)
        }
        #expect(bodies[0] == bodies[1])
        let parsed = try JSONParser.parse(bodies[0])
        let details = try #require(parsed["applinks"]?["details"]?.array)
        #expect(details.map { $0["appID"]?.string } == ["TEAM12345A.test.acme.ios"])
        let scope = details[0]["paths"]?.array?.compactMap(\.string) ?? []
        #expect(scope.contains(host == LinkServer.host ? "/r/*" : "/*"), "\(scope)")
        #expect(host != LinkServer.host || !scope.contains("/*"), "a shared host keeps its site in the browser")
      }
    }
    try await LinkServer.run(settings: "{\"domains\":[\"https://go.acme.test\"]}") { server in
      let answer = try await server.api.send("GET", "/apple-app-site-association", host: LinkServer.host)
      #expect(answer.body == #"{"applinks":{"apps":[],"details":[]}}"#)
      #expect(try await server.api.send("GET", "/.well-known/assetlinks.json", host: LinkServer.host).body == "[]")
    }
  }

  @Test("the asset links hold the fingerprints")
  func assets() async throws {
    try await LinkServer.run { server in
      let answer = try await server.api.send("GET", "/.well-known/assetlinks.json", host: LinkServer.host)
      #expect(answer.status == 200 && answer["content-type"] == "application/json")
      let target = try JSONParser.parse(answer.body).array?.first?["target"]
      #expect(target?["package_name"]?.string == "test.acme.app")
      #expect(target?["sha256_cert_fingerprints"]?.array?.first?.string == LinkServer.fingerprint)
    }
  }

  @Test("an app that was opened by a link learns what it says")
  func reopen() async throws {
    try await LinkServer.run { server in
      let link = try await server.link(Self.query)
      for (name, address) in [("bundleId", link), ("bundle_id", link), ("bundleId", "\(LinkServer.prefix)/?\(Self.query)")] {
        let (status, json) = try await server.post(
          "/v1/reopenAttribution",
          "{\"requestedLink\":\(JSON.string(address).compact),\"\(name)\":\"test.acme.ios\",\"sdk_version\":\"9\"}")
        #expect(status == 200)
        #expect(json["deepLink"]?.string == "https://acme.test/?gameid=7&invitedby=u42")
        #expect(json["utmSource"]?.string == "orkut" && json["iosMinAppVersion"]?.string == "1.0.1")
        #expect(json["resolvedLink"]?.string?.hasPrefix("\(LinkServer.prefix)/?") == true)
      }
      let unknown = try await server.post(
        "/v1/reopenAttribution", "{\"requestedLink\":\"https://go.acme.test/r/none\",\"bundleId\":\"test.acme.ios\"}")
      #expect(unknown.status == 404 && unknown.json["error"]?["status"]?.string == "NOT_FOUND")
      #expect(try await server.post("/v1/reopenAttribution", "{}").status == 400)
    }
  }

  private func install(
    _ server: LinkServer, _ link: String?, bundle: String = "test.acme.ios", more: String = "",
    installed: Int64 = APIServer.start / 1000
  ) async throws -> JSON {
    let check = link.map { ",\"uniqueMatchLinkToCheck\":\(JSON.string($0).compact)" } ?? ""
    let (status, json) = try await server.post(
      "/v1/installAttribution",
      """
      {"bundleId":"\(bundle)","iosVersion":"17.5","sdkVersion":"11.15.0","visualStyle":1,"retrievalMethod":1,
       "appInstallationTime":\(installed)\(check)\(more),
       "device":{"screenResolutionWidth":"390","screenResolutionHeight":844,"languageCode":"en","timezone":"UTC"}}
      """)
    #expect(status == 200, "\(json.compact)")
    return json
  }

  @Test("the proof of a click is UNIQUE once, for the right app; without one there is nothing")
  func install() async throws {
    try await LinkServer.run { server in
      let link = try await server.link(Self.query)
      let copied = try await server.clipboard(link)
      #expect(copied.hasPrefix(link + "?cid=") && copied.hasSuffix("&_icp=1"))
      let other = try await install(server, copied, bundle: "other.app")
      #expect(other["deepLink"] == nil && other["matchMessage"]?.string?.contains("another app") == true)
      let first = try await install(server, copied)
      #expect(first["attributionConfidence"]?.string == "UNIQUE")
      #expect(first["deepLink"]?.string == "https://acme.test/?gameid=7&invitedby=u42")
      #expect(first["requestedLink"]?.string == link && first["appMinimumVersion"]?.string == "1.0.1")
      #expect(first["fallbackLink"]?.string == "https://apps.apple.com/app/id900100200?mt=8")
      #expect(first["requestIpVersion"]?.string == "IP_V4" && first["isStrongMatchExecutable"]?.bool == false)
      let again = try await install(server, copied)
      #expect(again["attributionConfidence"]?.string != "UNIQUE" && again["deepLink"] == nil)
      let nothing = try await install(server, nil)
      #expect(nothing["deepLink"] == nil && nothing["matchMessage"]?.string?.isEmpty == false)
      let long = try await server.clipboard("\(LinkServer.prefix)/?\(Self.query)")
      #expect(try await install(server, long)["attributionConfidence"]?.string == "UNIQUE")
    }
  }

  @Test("Android: the referrer of the store proves the click, and counts an installation")
  func referrer() async throws {
    try await LinkServer.run { server in
      let link = try await server.link(Self.query)
      let referrer = try await Self.referrer(server, link)
      let answer = try await install(
        server, nil, bundle: "test.acme.app", more: ",\"installReferrer\":\(JSON.string(referrer).compact)")
      #expect(answer["attributionConfidence"]?.string == "UNIQUE" && answer["appMinimumVersion"]?.string != nil)
      let counts = try await server.counts(link)
      #expect(counts.contains("ANDROID APP_INSTALL 1") && counts.contains("ANDROID APP_FIRST_OPEN 1"), "\(counts)")
    }
  }

  static func referrer(_ server: LinkServer, _ link: String) async throws -> String {
    let location = try #require(try await server.open(link, as: .android)["location"])
    let part = try #require(location.split(separator: "S.browser_fallback_url=").last?.split(separator: ";").first)
    let decoded = try #require(Array(part.utf8).withUnsafeBytes { PercentEncoding.decode($0) })
    let store = try #require(LinkURL(decoded))
    return try #require(store.parameters?.first { $0.name == "referrer" }?.value)
  }

  @Test("counts are an administrator's, by an address that is encoded or raw, as texts")
  func counts() async throws {
    try await LinkServer.run { server in
      let link = try await server.link(Self.query)
      let path = "/v1/\(link.replacing("/", with: "%2F"))/linkStats?durationDays=7"
      #expect([401, 403].contains(try await server.api.send("GET", path).status))
      _ = try await server.open(link, as: .desktop)
      _ = try await server.open(link, as: .android)
      let copied = try await server.clipboard(link)
      _ = try await install(server, copied)
      _ = try await server.post("/v1/reopenAttribution", "{\"requestedLink\":\"\(link)\",\"bundle_id\":\"test.acme.ios\"}")
      let counts = try await server.counts(link)
      #expect(
        counts == [
          "ANDROID CLICK 1", "ANDROID REDIRECT 1", "DESKTOP CLICK 1", "IOS APP_FIRST_OPEN 1", "IOS APP_RE_OPEN 1",
          "IOS CLICK 1",
        ])
      let raw = try await server.api.send("GET", "/v1/\(link)/linkStats?durationDays=7", headers: APIServer.admin)
      let encoded = try await server.api.send("GET", path, headers: APIServer.admin)
      #expect(raw.status == 200 && raw.body == encoded.body)
      #expect(raw.body.contains("\"count\":\"1\""))
      #expect(try await server.api.send("GET", "/v1/none.test%2Fx/linkStats", headers: APIServer.admin).status == 404)
      server.api.clock.advance(by: 3 * 86_400_000)
      _ = try await server.open(link, as: .desktop)
      let recent = try await server.api.send("GET", "/v1/\(link)/linkStats?durationDays=2", headers: APIServer.admin)
      #expect(recent.body == #"{"linkEventStats":[{"platform":"DESKTOP","event":"CLICK","count":"1"}]}"#)
      let days = try await server.api.send("GET", "/admin/v1/links/stats?link=\(link)&days=30", headers: APIServer.admin)
      #expect(days.body.contains("2023-11-14") && days.body.contains("2023-11-17"))
    }
  }
}
