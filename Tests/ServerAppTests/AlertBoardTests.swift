import Testing
import TreeModel

@testable import ServerApp

/// What is told, and when.
@Suite struct AlertBoardTests {
  private static let minute: Int64 = 60_000

  private func told(_ notices: [AlertNotice]) -> [String] { notices.map { "\($0.kind.rawValue) \($0.state.rawValue)" } }

  @Test("A trouble is told when it begins, again after each interval, and when it is over")
  func life() {
    var board = AlertBoard(interval: 10 * Self.minute)
    var said: [String] = []
    for minute in 0..<35 {
      let found: [AlertKind: String] = (2..<25).contains(minute) ? [.deadLetters: "3 of pay"] : [:]
      said += told(board.update(found, at: Int64(minute) * Self.minute)).map { "\(minute) \($0)" }
    }
    #expect(
      said == [
        "2 dead_letters firing", "12 dead_letters firing", "22 dead_letters firing", "25 dead_letters resolved",
      ])
  }

  @Test("What comes and goes is told once in an interval, and its end only to whom its beginning was told")
  func flapping() {
    var board = AlertBoard(interval: 10 * Self.minute)
    var said: [String] = []
    for minute in 0..<24 {
      let found: [AlertKind: String] = minute % 2 == 0 ? [.diskLow: "900 MB"] : [:]
      said += told(board.update(found, at: Int64(minute) * Self.minute)).map { "\(minute) \($0)" }
    }
    #expect(
      said == [
        "0 disk_low firing", "1 disk_low resolved", "10 disk_low firing", "11 disk_low resolved", "20 disk_low firing",
        "21 disk_low resolved",
      ])
  }

  @Test("A clock that was set back silences nothing until it has caught up")
  func clockSetBack() {
    var board = AlertBoard(interval: 10 * Self.minute)
    #expect(told(board.update([.diskLow: "a"], at: 1000 * Self.minute)) == ["disk_low firing"])
    #expect(told(board.update([:], at: 10 * Self.minute)) == ["disk_low resolved"])
    #expect(told(board.update([.diskLow: "a"], at: 11 * Self.minute)) == ["disk_low firing"])
    #expect(told(board.update([.diskLow: "a"], at: 12 * Self.minute)) == [])
    #expect(told(board.update([.diskLow: "a"], at: 21 * Self.minute)) == ["disk_low firing"])
  }

  @Test("Kinds do not hold each other back; what is new in a trouble is in its next notice, with when it began")
  func kinds() throws {
    var board = AlertBoard(interval: 10 * Self.minute)
    #expect(told(board.update([.diskLow: "a"], at: 0)) == ["disk_low firing"])
    #expect(told(board.update([.diskLow: "b", .writerStopped: "c"], at: Self.minute)) == ["writer_stopped firing"])
    #expect(board.active == [.diskLow, .writerStopped])
    let again = try #require(board.update([.diskLow: "d", .writerStopped: "c"], at: 10 * Self.minute).first)
    #expect(again.summary == "d" && again.since == 0 && again.time == 10 * Self.minute)
    #expect(again.id != AlertNotice(kind: .diskLow, state: .resolved, summary: "", since: 0, time: again.time).id)
  }

  @Test("A summary is bounded, and moves nobody's cursor")
  func summaries() throws {
    var board = AlertBoard(interval: 1)
    let long = "\u{1B}[2J" + String(repeating: "x", count: 100_000)
    let notice = try #require(board.update([.deadLetters: long], at: 0).first)
    #expect(notice.summary.utf8.count < AlertBoard.summaryBytesMax + 64 && !notice.summary.contains("\u{1B}"))
  }

  @Test("What is posted says which server it is, what is wrong, and since when")
  func document() {
    let notice = AlertNotice(kind: .writerStopped, state: .firing, summary: "s", since: 0, time: 1500)
    #expect(
      notice.json(project: "game") == [
        "id": "writer_stopped-0-firing-1500", "kind": "writer_stopped", "state": "firing", "project": "game", "summary": "s",
        "since": "1970-01-01T00:00:00.000Z", "time": "1970-01-01T00:00:01.500Z",
      ])
  }
}
