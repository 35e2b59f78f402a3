import Messages
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Who gets which message, and when.
@Suite struct MessageChoiceTests {
  /// A part of the audience, a client that it means, and one that it does not.
  struct Row: Sendable, CustomTestStringConvertible {
    let audience: JSON
    let right: @Sendable (inout MessageClient) -> Void
    let wrong: @Sendable (inout MessageClient) -> Void
    var testDescription: String { audience.compactText }
  }

  static let rows: [Row] = [
    Row(audience: ["platforms": ["ios"]], right: { $0.platform = "ios" }, wrong: { $0.platform = "android" }),
    Row(audience: ["apps": ["test.acme"]], right: { $0.bundleID = "test.acme" }, wrong: { $0.bundleID = "test.other" }),
    Row(audience: ["appVersion": [">=": "2.10"]], right: { $0.appVersion = "2.10.1" }, wrong: { $0.appVersion = "2.9" }),
    Row(audience: ["appVersion": ["==": "2.0"]], right: { $0.appVersion = "2.0-beta" }, wrong: { $0.appVersion = "2.0.1" }),
    Row(audience: ["osVersion": ["<": "18"]], right: { $0.osVersion = "17.5" }, wrong: { $0.osVersion = "18.0.0" }),
    Row(audience: ["languages": ["pl"]], right: { $0.language = "pl_PL" }, wrong: { $0.language = "en" }),
    Row(
      audience: ["timeZones": ["Europe/Warsaw"]], right: { $0.timeZone = "Europe/Warsaw" },
      wrong: { $0.timeZone = "Europe/London" }),
    Row(audience: ["player": ["uids": ["bob"]]], right: { $0.uid = "bob" }, wrong: { $0.uid = "eve" }),
    Row(audience: ["player": ["referred": false]], right: { $0.uid = "bob" }, wrong: { $0.uid = "carol" }),
    Row(audience: ["player": ["inviter": "bob"]], right: { $0.uid = "carol" }, wrong: { $0.uid = "bob" }),
    Row(
      audience: ["tree": [["path": "/users/{uid}/level", ">=": 5]]], right: { $0.uid = "carol" }, wrong: { $0.uid = "bob" }),
    Row(
      audience: ["tree": [["path": "/users/{uid}/level", "exists": false]]], right: { $0.uid = "bob" },
      wrong: { $0.uid = "carol" }),
  ]

  @Test("a part of the audience lets in whom it means, keeps out others, and who does not say", arguments: rows)
  func audience(_ row: Row) async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      _ = try await game.database.commit(
        CommitRequest(
          namespace: namespace, actor: .anonymous,
          operations: [
            .set("/users/carol/level", .leaf(.int(5))), .set("/users/carol/referred_by", .leaf(.string("bob"))),
          ]))
      try await game.publish(["audience": row.audience])
      #expect(try await game.ids(change: row.right) == ["hello"])
      #expect(try await game.ids(change: row.wrong) == [])
      #expect(try await game.ids { $0.language = nil } == [])
    }
  }

  @Test("once means once, also where only the client, or only the server, knows of the display")
  func lifetime() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish()
      #expect(try await game.ids() == ["hello"])
      #expect(try await game.ids { $0.seen = ["hello": MessageFixture.start] } == [])
      try await game.show()
      #expect(try await game.ids() == [])
    }
  }

  @Test("once in seven days means not on the sixth, and again on the eighth")
  func cap() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["frequency": ["every": "7d"]])
      _ = try await game.ids()
      try await game.show()
      game.clock.advance(by: 6 * MessageFixture.day)
      #expect(try await game.ids() == [])
      game.clock.advance(by: 2 * MessageFixture.day)
      #expect(try await game.ids { $0.seen = ["hello": MessageFixture.start] } == ["hello"])
    }
  }

  @Test("displays can count for the player on all devices")
  func perPlayer() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["frequency": ["lifetime": 1, "per": "player"]])
      try await game.publish(["id": "own", "frequency": ["lifetime": 1]])
      let other = "cBBBBBBBBBBBBBBBBBBBBB"
      #expect(try await game.ids(uid: "bob").sorted() == ["hello", "own"])
      #expect(try await game.ids(uid: "bob", instance: other).sorted() == ["hello", "own"])
      for id in ["hello", "own"] { try await game.show(id) }
      #expect(try await game.ids(uid: "bob", instance: other) == ["own"])
    }
  }

  @Test("a share of the instances is the share that was asked for, and always the same")
  func percent() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["audience": ["percent": 30]])
      var chosen: [String] = []
      for number in 0..<400 {
        let id = "c\(String(repeating: "A", count: 17))\(1000 + number)".prefix(22)
        if try await !game.ids(instance: String(id)).isEmpty { chosen.append(String(id)) }
      }
      #expect((88...152).contains(chosen.count), "\(chosen.count) of 400")
      for id in chosen.prefix(20) { #expect(try await game.ids(instance: id) == ["hello"]) }
    }
  }

  @Test("the first of priority comes first, then the newest")
  func order() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["id": "late", "priority": 9])
      try await game.publish(["id": "old"])
      game.clock.advance(by: 1000)
      try await game.publish(["id": "new"])
      try await game.publish(["id": "first", "priority": 1])
      #expect(try await game.ids() == ["first", "new", "old", "late"])
    }
  }

  @Test("drafts, and what has not begun or is over, do not come; the zone is the campaign's, else the device's")
  func time() async throws {
    try await MessageFixture.run { (game) async throws in
      _ = try await game.messages.create(MessageFixture.document(["id": "draft"]), by: MessageFixture.admin)
      // It is 22:13 in UTC, and 23:13 in Warsaw.
      try await game.publish(["id": "warsaw", "schedule": ["start": "2023-11-14T23:00", "timeZone": "Europe/Warsaw"]])
      try await game.publish(["id": "device", "schedule": ["start": "2023-11-14T23:00", "end": "2023-11-15T00:00"]])
      #expect(try await game.ids { $0.timeZone = "Europe/London" } == ["warsaw"])
      #expect(try await game.ids { $0.timeZone = "Europe/Warsaw" }.sorted() == ["device", "warsaw"])
      game.clock.advance(by: 3_600_000)
      #expect(try await game.ids { $0.timeZone = "Europe/Warsaw" } == ["warsaw"])
    }
  }

  @Test("texts come in the nearest language, and numbers as it writes them")
  func languages() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish()
      for (asked, title) in [("pl-PL", "Witaj"), ("pl_PL", "Witaj"), ("de", "Hello"), ("en-GB", "Hello")] {
        let answer = try await game.fetch { $0.language = asked }
        #expect(answer.messages.first?.texts.title == title, "\(asked)")
      }
    }
  }

  @Test("an instance keeps its variant, and the weights come out")
  func variants() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["variants": [["name": "a", "weight": 50], ["name": "b", "weight": 50, "control": true]]])
      var count = 0
      for number in 0..<200 {
        let id = String("c\(String(repeating: "A", count: 17))\(1000 + number)".prefix(22))
        let first = try await game.fetch(instance: id).messages.first
        let again = try await game.fetch(instance: id) { $0.language = "pl" }.messages.first
        #expect(first?.variant == again?.variant)
        if first?.variant == "a" { count += 1 }
        #expect(first?.isControl == (first?.variant == "b"))
      }
      #expect((70...130).contains(count), "\(count) of 200")
    }
  }

  @Test("the reasons name the first condition that does not hold")
  func explain() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["audience": ["platforms": ["ios"], "player": ["uids": ["bob"]]]])
      _ = try await game.ids(uid: "eve") { $0.platform = "android" }
      func reason(_ uid: String) throws -> String? {
        try game.messages.explain("hello", instance: MessageFixture.instance, uid: uid) { _, _ in true }.first { !$0.holds }?
          .name
      }
      #expect(try reason("bob") == "audience.platforms")
      _ = try await game.ids(uid: "eve") { $0.platform = "ios" }
      #expect(try reason("eve") == "audience.player.uids")
      #expect(try reason("bob") == nil)
      _ = try await game.messages.stop("hello", by: MessageFixture.admin)
      #expect(try reason("bob") == "state")
    }
  }

  @Test("the reasons tell moments as people write them")
  func moments() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["schedule": ["start": "2023-12-01T09:00", "timeZone": "Europe/Warsaw"]])
      _ = try await game.ids()
      let reasons = try game.messages.explain("hello", instance: MessageFixture.instance, uid: nil) { _, _ in true }
      let schedule = try #require(reasons.first { $0.name == "schedule" })
      #expect(!schedule.holds && schedule.value == "2023-11-14T22:13:20.000Z")
    }
  }

  @Test("a test that was ordered comes once, whatever the conditions are")
  func test() async throws {
    try await MessageFixture.run { (game) async throws in
      let never: JSON = ["audience": ["platforms": ["none"]]]
      _ = try await game.messages.create(MessageFixture.document(never), by: MessageFixture.admin)
      _ = try await game.ids()
      try await game.messages.orderTest(
        "hello", devices: [MessageFixture.instance], variant: nil, by: MessageFixture.admin)
      let answer = try await game.fetch()
      #expect(answer.messages.map(\.isTest) == [true])
      #expect(try await game.ids() == [])
    }
  }

  @Test("the devices that a campaign names get it as a test at each fetch, as a draft too; others do not")
  func testDevices() async throws {
    try await MessageFixture.run { (game) async throws in
      let changes: JSON = ["testDevices": [.string(MessageFixture.instance)], "audience": ["platforms": ["none"]]]
      _ = try await game.messages.create(MessageFixture.document(changes), by: MessageFixture.admin)
      for _ in 0..<2 {
        #expect(try await game.fetch().messages.map(\.isTest) == [true])
        #expect(try await game.ids(instance: MessageFixture.instance(1)) == [])
      }
      _ = try await game.messages.publish("hello", by: MessageFixture.admin)
      #expect(try await game.fetch().messages.map(\.isTest) == [true])
      // What was seen as a test is no display.
      var report = MessageReport(
        .testImpression, campaign: "hello", instance: MessageFixture.instance, time: game.clock.now())
      report.key = "1"
      #expect(try await game.messages.take([report]) == 1)
      let totals = try await game.messages.results(of: "hello", days: 1)["totals"]?.array ?? []
      #expect(totals.map { $0["kind"]?.string } == ["test_impression"], "a test is handed out without being counted")
    }
  }

  @Test("a place that the player may not read says nothing: the fallback stands there, or the message is withheld")
  func variables() async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      let rank = WriteOperation.set("/leaderboard/bob/rank", .leaf(.int(7)))
      _ = try await game.database.commit(
        CommitRequest(namespace: namespace, actor: .anonymous, operations: [rank]))
      func publish(_ id: String, _ title: String) async throws {
        try await game.publish([
          "id": .string(id), "vars": ["rank": "/leaderboard/{uid}/rank"],
          "content": ["defaultLanguage": "en", "texts": ["en": ["title": .string(title)]]],
        ])
      }
      try await publish("sure", "You are {{rank}}")
      try await publish("withFallback", "You are {{rank|on the list}}")
      func titles(_ uid: String?, mayRead: Bool) async throws -> [String] {
        var client = MessageClient(instance: MessageFixture.instance)
        client.uid = uid
        let answer = try await game.messages.serve(client) { $0 == "/leaderboard/bob/rank" && mayRead }
        return answer.messages.compactMap(\.texts.title).sorted()
      }
      #expect(try await titles("bob", mayRead: true) == ["You are 7", "You are 7"])
      #expect(try await titles("bob", mayRead: false) == ["You are on the list"])
      #expect(try await titles("carol", mayRead: true) == ["You are on the list"])
      #expect(try await titles(nil, mayRead: true) == ["You are on the list"])
      for mayRead in [true, false] {
        let reasons = try game.messages.explain("sure", instance: nil, uid: "bob") { path, uid in
          mayRead && uid == "bob" && path == "/leaderboard/bob/rank"
        }
        let told: JSON = mayRead ? "en" : ["rank"]
        let texts = try #require(reasons.last)
        #expect(texts.name == "texts" && texts.holds == mayRead && texts.value == told, "\(reasons)")
      }
    }
  }
}
