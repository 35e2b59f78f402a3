import Ledger
import Messages
import RewardModel
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// What a campaign brought: coins, and shares with their intervals.
@Suite struct MessageCoinTests {
  private static func totals(_ results: JSON, _ kind: String) -> [String: Int64] {
    var found: [String: Int64] = [:]
    for total in results["totals"]?.array ?? [] where total["kind"]?.string == kind {
      found[total["variant"]?.string ?? "", default: 0] += total["count"]?.int ?? 0
    }
    return found
  }

  @Test("coins count that a player gets after the goal and within its days, once for all devices, less what is reversed")
  func coins() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["conversion": ["event": "invite_sent", "days": 7], "frequency": ["lifetime": 10]])
      let other = "cBBBBBBBBBBBBBBBBBBBBB"
      for instance in [MessageFixture.instance, other] {
        _ = try await game.ids(uid: "bob", instance: instance)
        try await game.show(instance: instance)
      }
      game.clock.advance(by: 1000)
      try await game.pay("bob", 10, key: "before the goal")
      for instance in [MessageFixture.instance, other] {
        try await game.messages.convert(["invite_sent"], instance: instance)
      }
      try await game.pay("bob", 50, key: "after the goal")
      try await game.pay("carol", 40, key: "somebody else")
      let mistake = try await game.pay("bob", 60, key: "a mistake")
      let namespace = try await game.database.openNamespace(named: "game")
      #expect(Self.totals(try await game.messages.results(of: "hello", days: 30), "coins") == ["": 110])
      game.clock.advance(by: MessageFixture.day)
      _ = try await game.ledger.reverse(mistake.sequence, in: namespace, by: MessageFixture.admin, reason: "a mistake")
      game.clock.advance(by: 7 * MessageFixture.day)
      try await game.pay("bob", 70, key: "late")
      let results = try await game.messages.results(of: "hello", days: 30)
      #expect(Self.totals(results, "coins") == ["": 50])
      let coins = results["days"]?.array?.filter { $0["kind"]?.string == "coins" } ?? []
      #expect(coins.count == 1 && coins.first?["detail"]?.string == Currency.piecesOfEight.unit)
    }
  }

  @Test("a reward that is the goal counts itself; a control that would have shown is compared without a click")
  func control() async throws {
    try await MessageFixture.run { (game) async throws in
      let content: JSON = [
        "defaultLanguage": "en", "texts": ["en": ["title": "Hello", "primary": "Go"]],
        "primaryAction": "https://acme.test/invite",
      ]
      try await game.publish([
        "content": content, "conversion": ["server": "reward"], "frequency": ["lifetime": 10],
        "variants": [["name": "a", "weight": 50], ["name": "none", "weight": 50, "control": true]],
      ])
      // Devices of both variants: one that only saw it, one that clicked, one that would have seen it.
      var (shown, controls): ([String], [String]) = ([], [])
      for number in 0..<40 where shown.count < 2 || controls.isEmpty {
        let instance = "cCCCCCCCCCCCCCCCCCCC" + (number < 10 ? "0\(number)" : "\(number)")
        let message = try #require(try await game.fetch(uid: "player\(number)", instance: instance).messages.first)
        if message.isControl { controls.append(instance) } else if shown.count < 2 { shown.append(instance) }
      }
      func report(_ kind: MessageReport.Kind, _ instance: String) async throws {
        let report = MessageReport(kind, campaign: "hello", instance: instance, time: game.clock.now())
        #expect(try await game.messages.take([report]) == 1)
      }
      for instance in shown { try await report(.impression, instance) }
      try await report(.click("primary"), shown[1])
      try await report(.control, controls[0])
      game.clock.advance(by: 1000)
      for instance in shown + controls.prefix(1) {
        let uid = try #require(try game.messages.instance(instance)?.uid)
        try await game.pay(uid, 50, key: uid)
      }
      let results = try await game.messages.results(of: "hello", days: 2)
      #expect(Self.totals(results, "conversion") == ["a": 1, "none": 1])
      #expect(Self.totals(results, "coins") == ["a": 50, "none": 50])
      let rates = results["rates"]?.array ?? []
      let own = try #require(rates.first { $0["variant"]?.string == "a" })
      #expect(own["impressions"] == 2 && own["clicks"] == 1 && own["conversions"] == 1)
      #expect(own["rate"] == 0.5 && own["conversionRate"] == 0.5)
      for name in ["low", "conversionLow"] { #expect(own[name].map { "\($0)" }?.isEmpty == false) }
      let none = try #require(rates.first { $0["variant"]?.string == "none" })
      #expect(none["impressions"] == 0 && none["rate"] == nil && none["conversions"] == 1)
      #expect(none["conversionRate"]?.compactText == "1" || none["conversionRate"]?.compactText == "1.0")
      let daily = results["daily"]?.array ?? []
      #expect(daily.compactMap { $0["day"]?.string } == ["2023-11-14", "2023-11-14"])
      #expect(daily.compactMap { $0["conversions"]?.int } == rates.compactMap { $0["conversions"]?.int })
    }
  }
}
