import AdminModel
import ServerTestSupport
import StorageCore
import StorageSQLite
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI

/// What the server remembers of the last day: rates that are true, and gaps where nobody looked.
struct SeriesTests {
  private static let start: Int64 = 1_700_000_000_000
  private static let bounds: [Int64] = [500, 1000, 2000, 4000]

  /// What is counted once so many commits were made; two events and an effect of 1.5 ms with each.
  private static func figures(_ commits: Int64) -> Figures {
    var figures = Figures()
    (figures.commits, figures.events, figures.entries) = (commits, 2 * commits, commits / 10)
    figures.effects = [0, 0, commits, 0, 0]
    return figures
  }

  /// Commits a second, of the parts that somebody saw.
  private static func rates(_ series: AdminOperation.Series) -> Set<Double> {
    Set(series.points.filter { $0.coveredMs > 0 }.map { Double($0.commits) * 1000 / Double($0.coveredMs) })
  }

  @Test("Whatever the window, the counts of its parts are those that were counted, and their rate is the true one")
  func rates() {
    let series = FigureSeries()
    for second in 0...2000 as ClosedRange<Int64> { series.note(Self.figures(second * 5), at: Self.start + second * 1000) }
    let now = Self.start + 2_000_000
    for window in AdminOperation.SeriesWindow.allCases {
      let answer = series.answer(window, points: 120, now: now, bounds: Self.bounds)
      #expect(answer.points.count <= 122 && answer.points.count >= 100, "\(window): \(answer.points.count)")
      #expect(Self.rates(answer) == [5], "\(window)")
      #expect(answer.points.allSatisfy { $0.events == 2 * $0.commits })
      let seconds: Int64 = window == .quarter ? 899 : 2000
      #expect(answer.points.reduce(0) { $0 + $1.commits } == seconds * 5, "\(window)")
      #expect(answer.points.compactMap(\.lagP95Micros).allSatisfy { (1000...2000).contains($0) })
    }
    let fine = series.answer(.quarter, points: 900, now: now, bounds: Self.bounds)
    #expect(fine.stepMs == 1000 && fine.points.count == 900)
    #expect(series.answer(.day, points: 1, now: now, bounds: Self.bounds).points.count <= 2)
  }

  @Test(
    "A time in which nobody looked, or that a clock jumped over, is a gap, and what was counted in it makes no rate",
    arguments: [10_000, 3_600_000, 30 * 86_400_000, -5000, -3_600_000] as [Int64])
  func gaps(jump: Int64) {
    let series = FigureSeries()
    for second in 0...60 as ClosedRange<Int64> { series.note(Self.figures(second * 5), at: Self.start + second * 1000) }
    let after = Self.start + 60_000 + jump
    // Between the two looks a million commits were made.
    for second in 0...60 as ClosedRange<Int64> {
      series.note(Self.figures(1_000_000 + second * 5), at: after + second * 1000)
    }
    for window in AdminOperation.SeriesWindow.allCases {
      let answer = series.answer(window, points: 900, now: after + 60_000, bounds: Self.bounds)
      #expect(Self.rates(answer).isSubset(of: [5]), "\(window): \(Self.rates(answer))")
    }
    let fine = series.answer(.quarter, points: 900, now: after + 60_000, bounds: Self.bounds)
    #expect(fine.points.contains { $0.coveredMs == 0 && $0.commits == 0 && $0.lagP95Micros == nil })
  }

  @Test("A count that begins again, as after a start, is taken from 0")
  func restart() {
    let series = FigureSeries()
    series.note(Self.figures(500), at: Self.start)
    series.note(Self.figures(7), at: Self.start + 1000)
    let answer = series.answer(.quarter, points: 900, now: Self.start + 1000, bounds: Self.bounds)
    #expect(answer.points.reduce(0) { $0 + $1.commits } == 7)
  }

  @Test("A day of samples has less than a megabyte")
  func memory() { #expect(FigureSeries().bytes < 1 << 20) }

  @Test(
    "The 95th percentile is found between the bounds of buckets; beyond the last it is the last",
    arguments: [
      ([0, 0, 0, 0, 0], nil), ([100, 0, 0, 0, 0], 475), ([0, 100, 0, 0, 0], 975), ([90, 0, 10, 0, 0], 1500),
      ([0, 0, 0, 0, 9], 4000),
    ] as [([Int64], Int64?)])
  func percentile(effects: [Int64], expected: Int64?) {
    var figures = Figures()
    figures.effects = effects
    let sample = FigureSeries.Sample(figures, since: Figures(), covered: 1000)
    #expect(sample.lagP95(Self.bounds) == expected)
  }

  @Test("It looks each second of the clock that it is given", .timeLimit(.minutes(5)))
  func looks() async throws {
    let clock = AdjustableClock(frozenAt: Self.start)
    let series = FigureSeries()
    let looking = Task { try await series.run(clock) { Self.figures((clock.now() - Self.start) / 100) } }
    for _ in 0..<20 {
      #expect(try await becomes { clock.sleeperCount == 1 })
      clock.advance(by: 1000)
    }
    #expect(try await becomes { clock.sleeperCount == 1 })
    looking.cancel()
    let answer = series.answer(.quarter, points: 900, now: clock.now(), bounds: Self.bounds)
    #expect(Self.rates(answer) == [10])
    #expect(answer.points.reduce(0) { $0 + $1.coveredMs } == 20_000)
  }

  @Test(
    "An audit of the log in the background tells how far it is, and what it came to; there is one at a time",
    .timeLimit(.minutes(5)))
  func audits() async throws {
    let engine = try SQLiteEngine.inMemory()
    let clock = AdjustableClock(frozenAt: Self.start)
    let database = try Database(engine: engine, participants: [], observers: [], limits: WriteLimits(), clock: clock)
    let namespace = try await database.openNamespace(named: "game")
    let reads = HeldReads()
    let audits = LogAudits(engine: HeldEngine(engine, reads: reads), clock: clock)
    #expect(audits.audit(of: namespace).state == .none)
    // The first read is the head's, the second the log's.
    reads.hold(2)
    let beginning = Task.detached { try audits.begin(namespace, by: .admin("ann")) }
    await reads.arrival()
    reads.open()
    #expect(try await beginning.value?.state == .running)
    await reads.arrival()
    #expect(try audits.begin(namespace, by: .admin("bob")) == nil)
    #expect(audits.audit(of: namespace).actor == "admin:ann")
    reads.open()
    #expect(try await becomes { audits.audit(of: namespace).state == .done })
    let audit = audits.audit(of: namespace)
    #expect(audit.result?.sound == true && audit.endedAt != nil && audit.failure == nil)
    audits.stop()
    #expect(try audits.begin(namespace, by: .admin("ann")) == nil)
    reads.free()
    database.shutDown()
    engine.close()
  }

  @Test("An audit that is told to end reads no further")
  func endsEarly() async throws {
    try await APIServer.run { server in
      for number in 1...600 { _ = try await server.send("PUT", "/n.json", "\(number)") }
      let namespace = try #require(server.database.namespace(named: "game"))
      let report = try server.database.engine.read { snapshot in
        try LogAudit.verify(snapshot, namespace: namespace) { _ in false }
      }
      #expect(report.commits == 500)
    }
  }
}
