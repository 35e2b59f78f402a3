import Ledger
import RewardModel
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import Messages

/// Clients that report what never happened: they make no coins, and leave room for the others.
@Suite struct LyingClientTests {
  private static let limit = RateLimit(600, per: 60_000, burst: 200)

  @Test("whatever a client reports, no coin is made and nothing of the tree or the ledger changes")
  func coins() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      try await game.publish(["conversion": ["event": "invite_sent"], "frequency": ["lifetime": 100]])
      try await game.pay("bob", 50, key: "a")
      _ = try await game.ids(uid: "bob")
      let namespace = try await game.database.openNamespace(named: "game")
      func state() throws -> (entries: [LedgerEntry], balance: Int64, leaves: Int) {
        try game.database.engine.read { snapshot in
          (
            try snapshot.entries(in: namespace, after: 0, limit: 100),
            try game.ledger.balance(in: namespace, of: LedgerAccount("user:bob"), unit: Currency.piecesOfEight.unit),
            try snapshot.leaves(in: namespace, under: PathBytes(.root), limit: 1000).count
          )
        }
      }
      let before = try state()
      let kinds: [MessageReport.Kind] = [.impression, .click("primary"), .click("secondary"), .dismissal("AUTO"), .control]
      for campaign in ["earned", "hello"] {
        for (number, kind) in (kinds + kinds).enumerated() {
          var report = MessageReport(kind, campaign: campaign, instance: MessageFixture.instance, time: .max)
          (report.key, report.event, report.variant) = ("\(number)", ["reward-1", "reward-2"][number % 2], "none")
          _ = try await game.messages.take([report])
        }
      }
      for _ in 0..<5 { try await game.messages.convert(["invite_sent", "reward"], instance: MessageFixture.instance) }
      let after = try state()
      #expect(after.entries == before.entries && after.balance == before.balance && after.leaves == before.leaves)
      #expect(try game.ledger.verify(namespace).isSound)
      let results = try await game.messages.results(of: "hello", days: 1)
      let kept = (results["totals"]?.array ?? []).compactMap { $0["kind"]?.string }
      #expect(!kept.contains("coins"), "\(kept)")
    }
  }

  @Test("a player's event is told by that player's devices alone, also where others say that they have shown it")
  func others() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(MessageFixture.reward)
      let liar = MessageFixture.instance(1)
      try await game.pay("bob", 50, key: "a")
      #expect(try await game.ids(uid: "bob") == ["earned"])
      _ = try await game.ids(uid: "eve", instance: liar)
      _ = try await game.show("earned", instance: liar, event: "reward-1")
      _ = try await game.show("earned", instance: liar, event: "../bob/reward-1", key: "other")
      #expect(try await game.ids(uid: "bob") == ["earned"], "nobody but bob has seen it")
      #expect(try game.messages.events(of: "bob").allSatisfy { $0.shownAt == nil })
    }
  }

  @Test("one installation's reports end where its day's measure does; another's are counted all the same")
  func days() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["frequency": ["lifetime": 100]])
      let (liar, other) = (MessageFixture.instance(1), MessageFixture.instance(2))
      for instance in [liar, other] { _ = try await game.ids(instance: instance) }
      let reports = (0..<Int(MessageService.reportsPerDay) + 50).map { number in
        var report = MessageReport(.suppressed, campaign: "hello", instance: liar, time: game.clock.now())
        report.key = "\(number)"
        return report
      }
      #expect(try await game.messages.take(reports) == Int(MessageService.reportsPerDay))
      #expect(try await game.show(instance: liar) == 0)
      #expect(try await game.show(instance: other) == 1)
    }
  }

  @Test("one network's reports end where a tenth of the project's measure does; others go on, until the project's is reached")
  func networks() async throws {
    try await MessageFixture.run(reportLimit: Self.limit) { (game) async throws in
      let messages = game.messages
      #expect(messages.admitsReports(20, from: "198.51.100.0/24"))
      #expect(!messages.admitsReports(1, from: "198.51.100.0/24"))
      for network in 1..<10 { #expect(messages.admitsReports(20, from: "203.0.\(network).0/24"), "\(network)") }
      #expect(!messages.admitsReports(1, from: "192.0.2.0/24"), "two hundred at once are the project's")
      game.clock.advance(by: 1000)
      #expect(messages.admitsReports(10, from: "192.0.2.0/24"), "what was refused cost the network nothing")
      #expect(!messages.admitsReports(2, from: "198.51.100.0/24"), "a second is one report of this network")
      game.clock.advance(by: 60_000)
      #expect(messages.admitsReports(20, from: "198.51.100.0/24"))
    }
  }

  @Test("one installation's fetches and batches end where its minute's measure does; another's go on")
  func rates() async throws {
    try await MessageFixture.run { (game) async throws in
      for (isLog, burst) in [(false, 10), (true, 20)] {
        for _ in 0..<burst { #expect(game.messages.admits("liar", logging: isLog)) }
        #expect(!game.messages.admits("liar", logging: isLog))
        #expect(game.messages.admits("other", logging: isLog))
      }
    }
  }

  @Test("what is reported of unknown campaigns and installations is counted as unknown, and kept nowhere")
  func unknown() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish()
      _ = try await game.ids()
      func records() throws -> Int {
        try game.messages.records(MessageService.Kind.log, beginning: "", limit: 100).count
          + game.messages.records(MessageMark.kind, beginning: "", limit: 100).count
      }
      #expect(try await game.show("nothing") == 0)
      #expect(try await game.show(instance: "nobody") == 0)
      #expect(try await game.show("../x") == 0)
      #expect(try records() == 0 && game.messages.totals.unknown == 3)
      #expect(try await game.show() == 1)
      #expect(try records() == 2 && game.messages.totals.unknown == 3)
    }
  }

  @Test("however much is over, one round removes it all, and leaves what is not")
  func pruning() async throws {
    try await MessageFixture.run { (game) async throws in
      let namespace = try await game.database.openNamespace(named: "game")
      let now = game.clock.now()
      for start in stride(from: 0, to: 2500, by: 500) {
        var request = CommitRequest(namespace: namespace, actor: MessageFixture.admin)
        request.rows.records = (start..<start + 500).map { number in
          KeyedRecordChange(
            kind: MessageService.Kind.log, key: "\(number)", value: String(number % 100 == 0 ? now + 1 : now))
        }
        _ = try await game.database.commit(request)
      }
      try await game.messages.prune()
      let left = try game.messages.records(MessageService.Kind.log, beginning: "", limit: 5000)
      #expect(left.count == 25 && left.allSatisfy { $0.key.hasSuffix("00") || $0.key == "0" })
    }
  }
}
