import FunctionsKit
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerApp
@testable import ServerConfiguration

/// The messages' commands against the whole server.
struct MessageCommandTests {
  private static let campaign = #"""
    // Who is paid sees it.
    {
      "id": "earned", "name": "You earned", "layout": "modal",
      "content": {"defaultLanguage": "en", "texts": {
        "en": {"title": "You earned {{amount}}!", "primary": "More"}, "pl": {"title": "Masz {{amount}}!", "primary": "Wincyj"}},
        "primaryAction": "https://acme.test/invite"},
      "triggers": [{"server": "reward", "where": {"amount": {">=": 50}}}], /* and no other */
    }
    """#

  /// A server, and how a command is run against it.
  private func running(_ test: (_ call: ([String]) async -> CommandRun) async throws -> Void) async throws {
    var configuration = ServerConfiguration(storage: .memory)
    configuration.port = 0
    let application = try Application(configuration: configuration, functions: { _ in })
    let address = "http://127.0.0.1:\(try await application.start())"
    do {
      try await test { await CommandRun(["messages"] + $0 + ["--server", address]) }
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  @Test("A campaign is checked, created from a file with comments, previewed, published, duplicated, stopped and deleted")
  func life() async throws {
    let folder = TemporaryFolder()
    try folder.write(Self.campaign, to: "earned.json")
    try await running { call in
      #expect(await call(["check", folder.file("earned.json")]).out == "earned is sound.\n")
      #expect(await call(["create", folder.file("earned.json")]).out == "earned, version 1, is draft.\n")
      let preview = await call(["preview", "earned", "--locale", "pl-PL", "--param", "amount=75"])
      #expect(preview.code == 0 && preview.out.contains("Masz 75!") && preview.out.contains("[Wincyj]"), "\(preview)")
      let page = await call(["preview", "earned", "--param", "amount=75", "--to", folder.file("page.html")])
      let html = String(decoding: try FileBytes.read(folder.file("page.html")), as: UTF8.self)
      #expect(page.code == 0 && html.contains("<h1>You earned 75!</h1>"), "\(page)")
      let published = await call(["publish", "earned", "--if-version", "1", "--reason", "a test"])
      #expect(published.out == "earned, version 2, is published.\n", "\(published)")
      let late = await call(["stop", "earned", "--if-version", "1"])
      #expect(late.code == 1 && late.err.contains("version 2"), "\(late)")
      #expect(await call(["list"]).out.contains("server:reward"))
      #expect(await call(["duplicate", "earned", "--as", "earned-b"]).out == "earned-b, version 1, is draft.\n")
      #expect(await call(["stop", "earned"]).out == "earned, version 3, is stopped.\n")
      #expect(await call(["delete", "earned-b"]).out == "earned-b, version 2, is deleted.\n")
      let history = await call(["history", "earned"])
      #expect(history.out.contains("stop") && history.out.contains("create"), "\(history)")
      #expect(await call(["show", "nothing"]).code == 1)
    }
  }

  @Test("All faults of a file are told with their places, and nothing is created")
  func faults() async throws {
    let folder = TemporaryFolder()
    try folder.write(
      #"{"id":"bad","layout":"card","content":{"defaultLanguage":"en","texts":{"en":{}}},"triggers":[],"colour":1}"#,
      to: "bad.json")
    try folder.write(#"{"id": "x", }}"#, to: "broken.json")
    try await running { call in
      let check = await call(["check", folder.file("bad.json")])
      #expect(check.code == 1)
      for place in ["name", "colour", "triggers", "content.portraitImage", "content.texts.en.title"] {
        #expect(check.out.contains("fault: \(place)"), "\(place): \(check)")
      }
      let create = await call(["create", folder.file("bad.json")])
      #expect(create.code == 1 && create.err.contains("content.portraitImage") && create.err.contains("colour"), "\(create)")
      #expect(await call(["list"]).out == "There are no such campaigns.\n")
      let broken = await call(["check", folder.file("broken.json")])
      #expect(broken.code == 1 && broken.err.contains("broken.json:1:14:"), "\(broken)")
    }
  }

  @Test(
    "A file is applied as the wanted state: a dry run changes nothing, a second time nothing is left to do, a conflict stops all"
  )
  func applying() async throws {
    let folder = TemporaryFolder()
    let published = Self.campaign.replacing("\"layout\": \"modal\",", with: "\"layout\": \"modal\", \"publish\": true,")
    let draft =
      #"{"id":"draft","name":"A draft","layout":"banner","content":{"defaultLanguage":"en","texts":{"en":{"title":"Hi"}}},"#
      + #""triggers":[{"on":"launch"}]}"#
    try folder.write("{\"campaigns\": [\(published), \(draft)]}", to: "all.json")
    try folder.write("{\"campaigns\": [\(published.replacing("You earned {{", with: "You got {{"))]}", to: "other.json")
    try folder.write("{\"campaigns\": []}", to: "none.json")
    let reordered = published.replacing(
      #""id": "earned", "name": "You earned","#, with: #""name": "You earned", "schedule": null, "id": "earned","#)
    try folder.write("{\"campaigns\": [\(reordered)]}", to: "reordered.json")
    try await running { call in
      let dry = await call(["apply", folder.file("all.json"), "--dry-run"])
      #expect(
        dry.out.contains("create earned\npublish earned\ncreate draft\n") && dry.out.contains("Nothing was changed."), "\(dry)")
      #expect(await call(["list"]).out == "There are no such campaigns.\n")
      #expect(await call(["apply", folder.file("all.json")]).out.contains("It is done."))
      #expect(await call(["apply", folder.file("all.json")]).out == "2 campaigns are as the file says.\n")
      #expect(await call(["apply", folder.file("reordered.json")]).out == "1 campaign is as the file says.\n")
      let conflict = await call(["apply", folder.file("other.json")])
      #expect(conflict.code == 1 && conflict.out.contains("conflict earned"), "\(conflict)")
      let kept = await call(["export", "--to", folder.file("kept.json")])
      #expect(kept.code == 0)
      #expect(await call(["apply", folder.file("kept.json")]).out == "2 campaigns are as the file says.\n")
      let pruned = await call(["apply", folder.file("none.json"), "--prune"])
      #expect(pruned.out.contains("stop earned"), "\(pruned)")
      #expect(await call(["list", "--state", "stopped"]).out.contains("earned"))
    }
  }

  @Test("An event is raised once for its key, waits for its player, and only where a published campaign waits for it")
  func events() async throws {
    let folder = TemporaryFolder()
    try folder.write(Self.campaign, to: "earned.json")
    try await running { call in
      let raising = ["raise", "reward", "--player", "alice", "--param", "amount=75", "--once", "ticket-1"]
      #expect(await call(raising).out.contains("nothing was kept"))
      _ = await call(["create", folder.file("earned.json")])
      _ = await call(["publish", "earned"])
      #expect(await call(["raise", "reward", "--player", "alice", "--param", "amount=49"]).out.contains("nothing was kept"))
      #expect(await call(raising).out.contains("reward waits for alice"))
      _ = await call(raising)
      let waiting = await call(["events", "--player", "alice", "--json"])
      let rows = try JSONParser.parse(waiting.out)["events"]?.array ?? []
      #expect(rows.count == 1 && rows.first?["params"]?["amount"] == 75, "\(waiting)")
      #expect(await call(["devices"]).out == "No app has fetched messages yet.\n")
      #expect(await call(["stats", "earned"]).out.contains("Nothing was counted of earned in these days."))
      #expect(await call(["settings"]).out.contains("\"fetchInterval\""))
      #expect(await call(["explain", "earned"]).code == 2)
    }
  }

  @Test(
    "What a picture answers is judged as apps judge it",
    arguments: [
      (200, "image/png", true), (200, "IMAGE/webp", true), (301, "image/png", false), (404, "text/html", false),
      (200, "text/html", false), (200, "", false),
    ])
  func pictures(status: Int, type: String, isGood: Bool) {
    #expect((MessagePicture.problem(status: status, type: type) == nil) == isGood)
  }

  @Test("The pictures of a campaign and its variants are found, each once")
  func addresses() {
    let campaign: JSON = [
      "content": ["portraitImage": "https://a.test/p.png", "landscapeImage": "https://a.test/l.png"],
      "variants": [
        ["content": ["portraitImage": "https://a.test/q.png"]], ["content": ["landscapeImage": "https://a.test/l.png"]],
      ],
    ]
    #expect(
      MessagePicture.addresses(in: campaign) == ["https://a.test/p.png", "https://a.test/q.png", "https://a.test/l.png"])
  }
}
