import StorageCore
import Testing
import TreeModel

@testable import Messages

/// What is counted, kind by kind, and the intervals of shares.
@Suite struct MessageMeasureTests {
  /// So many of so many displays, and the interval that holds the truth in 95 of 100 cases: Wilson's score interval (E. B. Wilson,
  /// 1927, equation 2), by another program.
  static let intervals: [(count: Int64, displays: Int64, low: Double, high: Double)] = [
    (10, 100, 0.0552291, 0.1743657), (0, 10, 0, 0.2775328), (10, 10, 0.7224672, 1), (1, 2, 0.0945312, 0.9054688),
    (50, 100, 0.4038315, 0.5961685), (3, 1000, 0.0010208, 0.0087830),
  ]

  @Test("shares have the intervals that are known for them", arguments: intervals)
  func shares(count: Int64, displays: Int64, low: Double, high: Double) throws {
    let found = JSON(fields: MessageResults.share(count, of: displays, names: ("rate", "low", "high")))
    for (name, known) in [("rate", Double(count) / Double(displays)), ("low", low), ("high", high)] {
      let share = try #require(found[name]?.double, "\(found)")
      #expect(abs(share - known) < 1e-6, "\(name): \(share), not \(known)")
    }
  }

  @Test("without a display there is no share; more clicks than displays are a share of one")
  func edges() {
    #expect(MessageResults.share(3, of: 0, names: ("rate", "low", "high")).isEmpty)
    let found = JSON(fields: MessageResults.share(5, of: 4, names: ("rate", "low", "high")))
    #expect(found["rate"]?.double == 1 && found["high"]?.double == 1)
  }

  /// What one of its kind is counted as.
  private static let kinds: [(MessageReport.Kind, String)] = [
    (.impression, "impression"), (.click("primary"), "click primary"), (.click("primary"), "click primary"),
    (.click("secondary"), "click secondary"), (.click("message"), "click message"), (.dismissal("AUTO"), "dismissal AUTO"),
    (.dismissal("CLICK"), "dismissal CLICK"), (.dismissal("SWIPE"), "dismissal SWIPE"),
    (.dismissal("SWIPE"), "dismissal SWIPE"), (.failure("IMAGE_FETCH_ERROR"), "error IMAGE_FETCH_ERROR"),
    (.failure("IMAGE_UNSUPPORTED_FORMAT"), "error IMAGE_UNSUPPORTED_FORMAT"), (.suppressed, "suppressed"),
    (.testImpression, "test_impression"), (.testClick, "test_click"),
  ]

  @Test("clicks are counted by button, dismissals by their way, errors by their reason, each on its day")
  func counts() async throws {
    try await MessageFixture.run { (game) async throws in
      try await game.publish(["frequency": ["lifetime": 10]])
      _ = try await game.ids()
      game.clock.advance(by: MessageFixture.day)
      for (number, (kind, _)) in Self.kinds.enumerated() {
        var report = MessageReport(
          kind, campaign: "hello", instance: MessageFixture.instance, time: game.clock.now())
        report.key = "\(number)"
        #expect(try await game.messages.take([report]) == 1)
      }
      let results = try await game.messages.results(of: "hello", days: 1)
      var wanted = ["instance": Int64(1)]
      for (_, name) in Self.kinds { wanted[name, default: 0] += 1 }
      #expect(Self.totals(results) == wanted, "what was served was served yesterday")
      let both = try await game.messages.results(of: "hello", days: 2)
      #expect(Self.totals(both) == wanted.merging(["served": 1]) { $1 })
      let rate = try #require(results["rates"]?.array?.first)
      #expect(rate["impressions"] == 1 && rate["clicks"] == 4)
      let totals = game.messages.totals
      #expect(totals.impressions == 1 && totals.clicks == 4 && totals.errors == 2 && totals.unknown == 0)
    }
  }

  private static func totals(_ results: JSON) -> [String: Int64] {
    var found: [String: Int64] = [:]
    for total in results["totals"]?.array ?? [] {
      let detail = total["detail"]?.string.map { " \($0)" } ?? ""
      found["\(total["kind"]?.string ?? "")\(detail)", default: 0] += total["count"]?.int ?? 0
    }
    return found
  }
}
