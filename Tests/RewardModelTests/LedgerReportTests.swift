import RewardModel
import Testing

@Suite struct LedgerReportTests {
  @Test("a report lists the first thousand faults and counts all")
  func cap() {
    var report = LedgerReport()
    #expect(report.isSound)
    for sequence in 1...1500 { report.note(LedgerReport.Fault(.chain, sequence: Int64(sequence), message: "altered")) }
    #expect(report.faultCount == 1500)
    #expect(report.faults.count == LedgerReport.listedMax)
    #expect(report.faults.first?.sequence == 1)
    #expect(!report.isSound)
  }

  @Test("a place without an integer is listed, and breaks no rule")
  func unbacked() {
    var report = LedgerReport()
    let place = LedgerReport.Unbacked(path: "/users/bob/gold", account: LedgerAccount("user:bob"), unit: "gold", found: "a map")
    for _ in 0..<1001 { report.note(place) }
    #expect(report.unbackedCount == 1001)
    #expect(report.unbacked.count == LedgerReport.listedMax)
    #expect(report.isSound)
  }

  @Test("the first broken entry is the first fault that has one")
  func firstBroken() {
    var report = LedgerReport()
    #expect(report.firstBrokenEntry == nil)
    report.note(LedgerReport.Fault(.sum, message: "the accounts do not sum to zero"))
    #expect(report.firstBrokenEntry == nil)
    report.note(LedgerReport.Fault(.balance, sequence: 4, message: "5, expected 6"))
    report.note(LedgerReport.Fault(.chain, sequence: 9, message: "altered"))
    #expect(report.firstBrokenEntry == 4)
  }
}
