import Messages
import StorageCore
import Testing
import TreeModel

/// What apps report, counted once.
@Suite struct MessageReportTests {
  @Test("a report that comes twice counts once, and one about nobody counts nothing")
  func twice() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["frequency": ["lifetime": 10]])
      #expect(try await game.show() == 0, "the instance is not known yet")
      _ = try await game.ids()
      #expect(try await game.show() == 1)
      #expect(try await game.show() == 0)
      #expect(try await game.show("unknown") == 0)
      #expect(try await game.show(key: "other") == 1)
      #expect(try await Self.total(game, "impression") == 2)
      #expect(try await Self.total(game, "instance") == 1)
      #expect(try await Self.total(game, "served") == 1)
    }
  }

  @Test("one instance cannot report more than a day's measure")
  func bound() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish()
      _ = try await game.ids()
      var reports: [MessageReport] = []
      for number in 0..<(Int(MessageService.reportsPerDay) + 10) {
        var report = MessageReport(
          .suppressed, campaign: "hello", instance: MessageFixture.instance, time: MessageFixture.start)
        report.key = String(number)
        reports.append(report)
      }
      #expect(try await game.messages.take(reports) == Int(MessageService.reportsPerDay))
      game.clock.advance(by: MessageFixture.day)
      #expect(try await game.show() == 1)
    }
  }

  @Test("a goal is reached once for each display, by the app's event or the server's")
  func conversion() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["conversion": ["event": "invite_sent", "days": 7], "frequency": ["lifetime": 10]])
      try await game.publish(["id": "paid", "conversion": ["server": "reward"], "frequency": ["lifetime": 10]])
      _ = try await game.ids(uid: "bob")
      try await game.messages.convert(["invite_sent"], instance: MessageFixture.instance)
      #expect(try await Self.total(game, "conversion") == 0, "nothing was shown yet")
      for id in ["hello", "paid"] { try await game.show(id) }
      game.clock.advance(by: 1000)
      try await game.pay("bob", 50, key: "a")
      try await game.pay("bob", 50, key: "b")
      for _ in 0..<2 { try await game.messages.convert(["invite_sent"], instance: MessageFixture.instance) }
      #expect(try await Self.total(game, "conversion") == 1)
      #expect(try await Self.total(game, "conversion", of: "paid") == 1)
    }
  }

  @Test("an installation is who shows its token, and removing it removes what is known of it")
  func installations() async throws {
    try await MessageFixture.run(isDevelopment: false) { (game) async throws in
      try await game.publish()
      let made = try await game.messages.register(nil, appID: "1:77:ios:ab")
      #expect(made.instance.utf8.count == 22 && ["c", "d", "e", "f"].contains(made.instance.first))
      await #expect(throws: InstanceError.self) { _ = try await game.ids(instance: made.instance) }
      await #expect(throws: InstanceError.self) { _ = try await game.ids() }
      #expect(try await game.ids(instance: made.instance) { $0.token = made.token } == ["hello"])
      let token = try await game.messages.refresh(made.instance, refreshToken: made.refreshToken)
      await #expect(throws: InstanceError.self) { _ = try await game.ids(instance: made.instance) { $0.token = made.token } }
      game.clock.advance(by: MessageService.tokenLifetime + 1)
      await #expect(throws: InstanceError.self) { _ = try await game.ids(instance: made.instance) { $0.token = token } }
      await #expect(throws: InstanceError.self) {
        try await game.messages.unregister(made.instance, refreshToken: "wrong")
      }
      try await game.messages.unregister(made.instance, refreshToken: made.refreshToken)
      #expect(try game.messages.instance(made.instance) == nil)
    }
  }

  @Test("a new token takes nothing back that a fetch notes at the same moment, and brings nobody back who is gone")
  func refreshing() async throws {
    try await MessageFixture.run(isDevelopment: false) { (game) async throws in
      let made = try await game.messages.register(nil, appID: "1:77:ios:ab")
      var token = made.token
      for number in 0..<50 {
        let (uid, known) = ("player\(number)", token)
        async let fresh = game.messages.refresh(made.instance, refreshToken: made.refreshToken)
        // Whichever comes first: the fetch may find its token replaced.
        try? await { _ = try await game.ids(uid: uid, instance: made.instance) { $0.token = known } }()
        token = try await fresh
        let named = try game.messages.instance(made.instance)?.uid
        #expect(try game.messages.devices(of: uid, limit: 5).map(\.id) == (named == uid ? [made.instance] : []))
      }
      _ = try await game.ids(uid: "last", instance: made.instance) { $0.token = token }
      #expect(try game.messages.instance(made.instance)?.uid == "last")
    }
  }

  private static func total(_ game: MessageFixture, _ kind: String, of campaign: String = "hello") async throws -> Int64 {
    let results = try await game.messages.results(of: campaign, days: 30)
    return (results["totals"]?.array ?? []).filter { $0["kind"]?.string == kind }.reduce(0) { $0 + ($1["count"]?.int ?? 0) }
  }
}
