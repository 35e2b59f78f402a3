import NIOHTTP1
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminAPI
@testable import HTTPServer
@testable import ServerApp

/// In-app messages for administrators.
struct MessageRouteTests {
  private static func campaign(_ id: String, _ changes: [(String, JSON?)] = []) -> JSON {
    let whole: [(String, JSON?)] = [
      ("id", .string(id)), ("name", "You earned"), ("layout", "modal"),
      (
        "content",
        [
          "defaultLanguage": "en", "primaryAction": "https://acme.test/invite",
          "texts": ["en": ["title": "You earned {{amount}}!", "body": "By {{invitee|a friend}}", "primary": "More"]],
        ]
      ), ("triggers", [["server": "reward", "where": ["amount": [">=": 50]]]]),
    ]
    let names = Set(changes.map(\.0))
    return JSON(fields: whole.filter { !names.contains($0.0) } + changes)
  }

  private static func send(
    _ server: APIServer, _ method: String, _ path: String = "", _ body: JSON? = nil, headers: [String: String] = [:]
  ) async throws -> RawResponse {
    try await server.send(
      method, "/admin/v1/messages\(path)", body?.compactText, headers: APIServer.admin.merging(headers) { $1 })
  }

  @Test("A campaign goes from draft to deleted, one version after the other, and all of it is in the audit log")
  func life() async throws {
    try await APIServer.run { server in
      let created = try await Self.send(server, "POST", "", Self.campaign("earned"))
      #expect(created.status == 200 && created.json?["state"] == "draft" && created.json?["version"] == 1, "\(created.body)")
      // What was shown can be sent back.
      let again = try await Self.send(server, "PUT", "/earned", created.json)
      #expect(again.status == 200 && again.json?["version"] == 2, "\(again.body)")
      let late = try await Self.send(server, "PUT", "/earned", created.json)
      #expect(late.status == 412, "\(late.body)")
      let byHeader = try await Self.send(server, "PUT", "/earned", Self.campaign("earned"), headers: ["If-Match": "\"1\""])
      #expect(byHeader.status == 412, "\(byHeader.body)")
      #expect(try await Self.send(server, "POST", "/earned/publish", ["version": 1]).status == 412)
      let published = try await Self.send(server, "POST", "/earned/publish", ["version": 2, "reason": "summer"])
      #expect(published.json?["state"] == "published" && published.json?["ended"] == false, "\(published.body)")
      let changed = try await Self.send(server, "PUT", "/earned", Self.campaign("earned", [("name", "Other")]))
      #expect(changed.status == 409 && changed.error?.contains("duplicate") == true, "\(changed.body)")
      #expect(try await Self.send(server, "POST", "/earned/duplicate", ["id": "again"]).json?["state"] == "draft")
      #expect(try await Self.send(server, "POST", "/earned/stop", [:]).json?["state"] == "stopped")
      #expect(try await Self.send(server, "POST", "/earned/publish", [:]).status == 409)
      #expect(try await Self.send(server, "DELETE", "/earned?reason=over").json?["state"] == "deleted")
      #expect(try await Self.send(server, "POST", "", Self.campaign("earned")).status == 409)
      let versions = try await Self.send(server, "GET", "/earned/versions")
      #expect(
        versions.json?["versions"]?.array?.compactMap { $0["action"]?.string }
          == ["delete", "stop", "publish", "replace", "create"], "\(versions.body)")
      let audit = try await server.send("GET", "/admin/v1/audit?limit=100", headers: APIServer.admin)
      let actions = audit.json?["actions"]?.array ?? []
      let published2 = actions.first { $0["action"] == "messages.publish" && $0["result"] == "ok" }
      #expect(published2?["actor"] == "admin:owner" && published2?["detail"]?["body"]?["reason"] == "summer", "\(audit.body)")
    }
  }

  @Test("Of a published campaign the end may come nearer and test devices change; anything else is 409, and changes nothing")
  func published() async throws {
    try await APIServer.run { server in
      func sent(_ changes: [(String, JSON?)]) async throws -> RawResponse {
        let end: (String, JSON?) = ("schedule", ["end": "2024-01-10T00:00", "timeZone": "UTC"])
        let names = changes.map(\.0)
        return try await Self.send(
          server, "PUT", "/earned", Self.campaign("earned", (names.contains("schedule") ? [] : [end]) + changes))
      }
      _ = try await Self.send(
        server, "POST", "",
        Self.campaign("earned", [("schedule", ["end": "2024-01-10T00:00", "timeZone": "UTC"])]))
      #expect(try await Self.send(server, "POST", "/earned/publish", [:]).status == 200)
      let refused: [(String, JSON?)] = [
        ("schedule", ["end": "2024-01-10T00:01", "timeZone": "UTC"]), ("schedule", ["timeZone": "UTC"]),
        ("schedule", ["end": "2024-01-10T00:00"]), ("schedule", nil), ("name", "Other"), ("priority", 1),
        ("frequency", ["lifetime": 2]), ("audience", ["percent": 50]), ("data", ["a": "b"]), ("triggers", [["on": "launch"]]),
      ]
      for change in refused {
        let answer = try await sent([change])
        // A template that no trigger fills is wrong before it is a change.
        #expect(answer.status == (change.0 == "triggers" ? 400 : 409), "\(change): \(answer.body)")
      }
      #expect(try await Self.send(server, "GET", "/earned").json?["version"] == 2)
      #expect(try await sent([("schedule", ["end": "2024-01-09T00:00", "timeZone": "UTC"])]).status == 200)
      let devices = try await sent([
        ("schedule", ["end": "2024-01-09T00:00", "timeZone": "UTC"]), ("testDevices", ["cRk2AAAAAAAAAAAAAAAAAA"]),
      ])
      #expect(devices.status == 200 && devices.json?["version"] == 4, "\(devices.body)")
    }
  }

  @Test("Half a character is no text: a document that holds one is refused, and nothing is stored")
  func surrogates() async throws {
    try await APIServer.run { server in
      let good = Self.campaign("half").compactText
      for half in [#"\ud83d"#, #"\ude00"#, #"\ud83dx"#] {
        let bad = good.replacing("You earned {{amount}}", with: half)
        #expect(bad != good)
        let answer = try await server.send("POST", "/admin/v1/messages", bad, headers: APIServer.admin)
        #expect(answer.status == 400, "\(half): \(answer.body)")
      }
      #expect(try await Self.send(server, "GET").json?["campaigns"] == [])
    }
  }

  @Test("Every fault is told at once with its place, and nothing is stored", arguments: ["", "/check"])
  func faults(_ path: String) async throws {
    try await APIServer.run { server in
      let bad = Self.campaign(
        "bad",
        [
          ("layout", "card"), ("triggers", [["event": "9lives"]]), ("colour", 1), ("frequency", ["lifetime": 0]),
          ("data", ["a": 1]),
          (
            "content",
            [
              "defaultLanguage": "en", "colors": ["text": "#fff"], "texts": ["en": ["title": ""]],
              "primaryAction": "javascript:alert(1)",
            ]
          ),
        ])
      let answer = try await Self.send(server, "POST", path, bad)
      #expect(answer.status == (path.isEmpty ? 400 : 200), "\(answer.body)")
      let places = Set(answer.json?["faults"]?.array?.compactMap { $0["path"]?.string } ?? [])
      for place in [
        "content.portraitImage", "content.colors.text", "content.primaryAction", "content.texts.en.title", "frequency.lifetime",
        "data.a", "colour",
      ] { #expect(places.contains(place), "\(place) is not in \(places.sorted())") }
      #expect(places.contains { $0.hasPrefix("triggers[0]") })
      #expect(try await Self.send(server, "GET").json?["campaigns"] == [])
    }
  }

  @Test("Names of addresses are no ids, and what is not there is said to be not there")
  func names() async throws {
    try await APIServer.run { server in
      for id in ["apply", "check", "devices", "events", "preview", "settings"] {
        #expect(try await Self.send(server, "POST", "", Self.campaign(id)).status == 400, "\(id)")
      }
      for (method, path, body) in [
        ("GET", "/none", nil), ("PUT", "/none", Self.campaign("none")), ("DELETE", "/none", nil),
        ("POST", "/none/publish", [:]),
        ("POST", "/none/stop", [:]), ("POST", "/none/duplicate", [:]), ("POST", "/none/preview", [:]),
        ("POST", "/none/explain", ["uid": "alice"]), ("POST", "/none/test", ["devices": ["x"]]), ("GET", "/none/stats", nil),
        ("GET", "/none/versions", nil), ("DELETE", "/devices/none", nil),
      ] as [(String, String, JSON?)] {
        let answer = try await Self.send(server, method, path, body)
        #expect(answer.status == 404, "\(method) \(path): \(answer.status) \(answer.body)")
      }
      #expect(try await Self.send(server, "GET", "/check").status == 405)
      for body in [[:], ["uid": "a/b"], ["uid": "alice", "instance": "x"]] as [JSON] {
        #expect(try await Self.send(server, "POST", "/none/explain", body).status == 400, "\(body)")
      }
    }
  }

  @Test(
    "A preview has the view of an app and a page in which texts are texts; half-written documents are answered with their faults"
  )
  func previews() async throws {
    try await APIServer.run { server in
      let title = #"<img src=x onerror=alert(1)> {{amount}}"#
      let hostile = Self.campaign(
        "hostile",
        [
          ("content", ["defaultLanguage": "en", "texts": ["en": ["title": .string(title)]]])
        ])
      _ = try await Self.send(server, "POST", "", hostile)
      let shown = try await Self.send(server, "POST", "/hostile/preview", ["params": ["amount": 1250], "locale": "en"])
      #expect(shown.json?["view"]?["title"]?.string?.hasPrefix("<img src=x onerror=alert(1)>") == true, "\(shown.body)")
      let html = shown.json?["html"]?.string ?? ""
      #expect(html.contains("&lt;img src=x onerror=alert(1)&gt;") && !html.contains("<img"), "\(html)")
      #expect(shown.json?["view"]?["buttons"]?.array?.contains { $0["role"] == "close" } == true, "\(shown.body)")
      let draft = try await Self.send(server, "POST", "/preview", ["campaign": ["layout": "card"]])
      #expect(
        draft.status == 200 && draft.json?["view"] == nil && draft.json?["faults"]?.array?.isEmpty == false, "\(draft.body)")
    }
  }

  @Test("Campaigns are listed as they are shown: by priority, the newest first; page by page, by state and text")
  func listing() async throws {
    try await APIServer.run { server in
      for (id, priority) in [("late", 9), ("first", 1), ("old", 5), ("new", 5)] {
        _ = try await Self.send(server, "POST", "", Self.campaign(id, [("priority", .int(Int64(priority)))]))
        server.clock.advance(by: 1000)
      }
      func ids(_ query: String) async throws -> [String] {
        try await Self.send(server, "GET", query).json?["campaigns"]?.array?.compactMap { $0["id"]?.string } ?? []
      }
      #expect(try await ids("") == ["first", "new", "old", "late"])
      let page = try await Self.send(server, "GET", "?limit=3")
      #expect(page.json?["next"] == "old" && page.json?["campaigns"]?.array?.first?["triggers"] == ["server:reward"])
      #expect(try await ids("?limit=3&cursor=old") == ["late"])
      _ = try await Self.send(server, "POST", "/new/publish", [:])
      #expect(try await ids("?state=published") == ["new"])
      #expect(try await ids("?q=LAT") == ["late"])
      #expect(try await Self.send(server, "GET", "?cursor=nothing").status == 400)
      _ = try await Self.send(server, "DELETE", "/late")
      #expect(try await ids("") == ["first", "new", "old"])
    }
  }

  @Test("Settings are read and replaced; what does not fit is refused with its member")
  func settings() async throws {
    try await APIServer.run { server in
      let set = try await Self.send(server, "PUT", "/settings", ["fetchInterval": "10min", "bannerSeconds": 20])
      #expect(set.status == 200 && set.json?["bannerSeconds"] == 20 && set.json?["impressionSeconds"] == 3, "\(set.body)")
      #expect(try await Self.send(server, "GET", "/settings").json?["fetchInterval"] == "10min")
      let wrong = try await Self.send(server, "PUT", "/settings", ["fetchInterval": "often", "eventDays": 0])
      #expect(wrong.status == 400, "\(wrong.body)")
      #expect(try await Self.send(server, "PUT", "/settings", ["fetch": "1h"]).status == 400)
      #expect(try await Self.send(server, "GET", "/settings").json?["bannerSeconds"] == 20)
    }
  }

  @Test("A preview for a player says what the player may read, for a platform whom it means, for a width which picture")
  func previewsForSomebody() async throws {
    try await APIServer.run { server in
      let rules = #"{"rules":{"open":{".read":true},"closed":{".read":false},"own":{"$uid":{".read":"auth.uid == $uid"}}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      for place in ["open", "closed", "own"] {
        let path = "/\(place)/bob.json"
        #expect(try await server.send("PUT", path, "\"\(place) to bob\"", headers: APIServer.admin).status == 200)
      }
      let places: JSON = ["open": "/open/{uid}", "closed": "/closed/{uid}", "own": "/own/{uid}"]
      let content: JSON = [
        "defaultLanguage": "en", "portraitImage": "https://acme.test/p.png", "landscapeImage": "https://acme.test/l.png",
        "primaryAction": nil, "imageAlt": ["en": "{{open}}"],
        "texts": ["en": ["title": "{{open}}, {{own}}, {{closed|shut}}", "body": "{{amount|0}}", "primary": "OK"]],
      ]
      let card = Self.campaign(
        "card", [("layout", "card"), ("content", content), ("vars", places), ("audience", ["platforms": ["ios"]])])
      let created = try await Self.send(server, "POST", "", card)
      #expect(created.status == 200, "\(created.body)")
      func preview(_ order: JSON) async throws -> JSON {
        let answer = try await Self.send(server, "POST", "/card/preview", order)
        #expect(answer.status == 200, "\(answer.body)")
        return answer.json ?? .null
      }
      let bobs = try await preview(["uid": "bob", "params": ["amount": 5]])
      #expect(bobs["view"]?["title"] == "open to bob, own to bob, shut" && bobs["view"]?["body"] == "5", "\(bobs)")
      #expect(bobs["missing"] == [] && bobs["view"]?["images"]?.array?.first?["alt"] == "open to bob", "\(bobs)")
      #expect(try await preview([:])["missing"] == ["open", "own"])
      #expect(try await preview(["uid": "carol"])["missing"] == ["open", "own"])
      for (width, picture) in [(390, "p.png"), (599, "p.png"), (600, "l.png")] {
        let told = try await preview(["width": .int(Int64(width))])
        let addresses = told["view"]?["images"]?.array?.compactMap { $0["url"]?.string }
        #expect(addresses == ["https://acme.test/\(picture)"] && told["html"]?.string?.contains("width:\(width)px") == true)
      }
      #expect(try await preview([:])["view"]?["images"]?.array?.count == 2)
      for (platform, isMeant) in [("ios", true), ("android", false)] {
        let codes = try await preview(["platform": .string(platform)])["warnings"]?.array?.compactMap { $0["code"]?.string }
        #expect(codes?.contains("NOT_FOR_PLATFORM") == !isMeant, "\(platform)")
      }
      for bad: JSON in [["uid": "a/b"], ["width": 100], ["width": "wide"], ["platform": ""]] {
        #expect(try await Self.send(server, "POST", "/card/preview", bad).status == 400, "\(bad)")
      }
      let draft = try await Self.send(server, "POST", "/preview", ["campaign": card, "uid": "bob", "width": 390])
      #expect(draft.json?["view"]?["title"] == "open to bob, own to bob, shut", "\(draft.body)")
      let reasons = try await Self.send(server, "POST", "/card/explain", ["uid": "carol"])
      let texts = reasons.json?["conditions"]?.array?.last
      #expect(texts?["holds"] == false && texts?["value"] == ["open", "own"], "\(reasons.body)")
    }
  }
}
