import StorageCore
import Testing
import TreeModel

@testable import Messages

/// Local times of campaigns where clocks are changed: in the campaign's zone, in the device's, and in the zones' rules themselves.
@Suite struct ClockChangeTests {
  /// A local time in a zone, the moment that it is, and whether the clocks show it exactly once.
  struct Row: Sendable, CustomTestStringConvertible {
    let zone: String
    let local: String
    let moment: String
    let isPlain: Bool

    init(_ zone: String, _ local: String, _ moment: String, isPlain: Bool = true) {
      (self.zone, self.local, self.moment, self.isPlain) = (zone, local, moment, isPlain)
    }
    var testDescription: String { "\(local) in \(zone)" }
  }

  static let rows: [Row] = [
    Row("Europe/Warsaw", "2024-03-31T01:59", "2024-03-31T00:59:00Z"),
    // From two to three there is nothing: the first moment after is three, which is one in UTC.
    Row("Europe/Warsaw", "2024-03-31T02:00", "2024-03-31T01:00:00Z", isPlain: false),
    Row("Europe/Warsaw", "2024-03-31T02:59:59", "2024-03-31T01:00:00Z", isPlain: false),
    Row("Europe/Warsaw", "2024-03-31T03:00", "2024-03-31T01:00:00Z"),
    // From two to three there is everything twice: the first counts.
    Row("Europe/Warsaw", "2024-10-27T02:30", "2024-10-27T00:30:00Z", isPlain: false),
    Row("Europe/Warsaw", "2024-10-27T03:00", "2024-10-27T02:00:00Z"),
    Row("America/New_York", "2024-03-10T02:30", "2024-03-10T07:00:00Z", isPlain: false),
    Row("America/New_York", "2024-11-03T01:30", "2024-11-03T05:30:00Z", isPlain: false),
    // Half an hour only, and summer over the turn of the year.
    Row("Australia/Lord_Howe", "2024-10-06T02:15", "2024-10-05T15:30:00Z", isPlain: false),
    Row("Asia/Kolkata", "2024-06-01T09:00", "2024-06-01T03:30:00Z"),
    Row("UTC", "2024-03-31T02:30", "2024-03-31T02:30:00Z"),
    // By the rule at the file's end, long after its last entry.
    Row("Europe/Warsaw", "2060-07-01T12:00", "2060-07-01T10:00:00Z"),
    Row("Europe/Warsaw", "2060-01-01T12:00", "2060-01-01T11:00:00Z"),
    Row("Europe/Warsaw", "1970-01-01T12:00", "1970-01-01T11:00:00Z"),
  ]

  @Test(
    "a local time is the moment at which its zone's clocks show it; one that they skip or repeat is the first from then on",
    arguments: rows)
  func moments(_ row: Row) throws {
    let zone = try #require(MessageFixture.zones.zone(named: row.zone))
    let found = zone.moment(of: try #require(LocalTime(row.local)))
    #expect(found.milliseconds == Self.milliseconds(row.moment) && found.isPlain == row.isPlain, "\(found)")
  }

  @Test("a zone's difference to UTC changes at the moment itself, and not a second before")
  func offsets() throws {
    let zone = try #require(MessageFixture.zones.zone(named: "Europe/Warsaw"))
    for (moment, hours) in [
      ("2024-03-31T00:59:59Z", 1), ("2024-03-31T01:00:00Z", 2), ("2024-10-27T00:59:59Z", 2), ("2024-10-27T01:00:00Z", 1),
      ("2060-03-28T00:59:59Z", 1), ("2060-03-28T01:00:00Z", 2),
    ] {
      #expect(zone.offset(at: Self.milliseconds(moment) / 1000) == Int64(hours) * 3600, "\(moment)")
    }
    for damaged in [[], Array("TZif".utf8), Array(repeating: UInt8(0x54), count: 200)] as [[UInt8]] {
      #expect(ZoneRules(file: damaged) == nil)
    }
    for name in ["../../etc/passwd", "Europe//Warsaw", "", "Europe/Nowhere"] {
      #expect(MessageFixture.zones.zone(named: name) == nil, "\(name)")
    }
  }

  @Test("a campaign that begins while clocks are changed begins for fetches at the first moment after; by the device's, too")
  func fetches() async throws {
    try await MessageFixture.run { (game) async throws in
      game.clock.advance(by: Self.milliseconds("2024-03-31T00:59:59Z") - MessageFixture.start)
      let start: JSON = "2024-03-31T02:30"
      try await game.publish(["id": "warsaw", "schedule": ["start": start, "timeZone": "Europe/Warsaw"]])
      try await game.publish(["id": "device", "schedule": ["start": start]])
      func served(_ zone: String?) async throws -> [String] { try await game.ids { $0.timeZone = zone }.sorted() }
      #expect(try await served("Europe/Warsaw") == [])
      #expect(try await served("Asia/Kolkata") == ["device"], "there it is half past six")
      game.clock.advance(by: 1000)
      #expect(try await served("Europe/Warsaw") == ["device", "warsaw"])
      #expect(try await served("Europe/London") == ["warsaw"], "there the clocks jump from one to two, and it is two")
      #expect(try await served(nil) == ["warsaw"])
      game.clock.advance(by: 5_400_000)
      #expect(try await served(nil) == ["device", "warsaw"], "in UTC it is half past two")
    }
  }

  @Test("a campaign that ends at a time that the clocks show twice ends at the first")
  func ends() async throws {
    try await MessageFixture.run { (game) async throws in
      game.clock.advance(by: Self.milliseconds("2024-10-27T00:29:59Z") - MessageFixture.start)
      try await game.publish(["schedule": ["end": "2024-10-27T02:30", "timeZone": "Europe/Warsaw"]])
      #expect(try await game.ids() == ["hello"])
      game.clock.advance(by: 1000)
      #expect(try await game.ids() == [])
      game.clock.advance(by: 3_600_000)
      #expect(try await game.ids() == [])
    }
  }

  private static func milliseconds(_ text: String) -> Int64 {
    guard let local = LocalTime(String(text.dropLast())) else { return 0 }
    return ZoneRules.utc.moment(of: local).milliseconds
  }
}
