import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon series`: what the server did lately.
struct SeriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "series",
    abstract: "Say what the server did in the last minutes or hours.",
    discussion: """
      Rates of commits, events and ledger entries, how long effects took, and the most that waited and listened, in parts of equal \
      time. The server remembers a day, in memory; a time in which it did not run, or its clock was moved, is a gap.

      Examples:
        doubloon series
        doubloon series --window 24h --points 24
      """)

  @Option(help: ArgumentHelp("How far back: 15m, 1h, 6h or 24h.", valueName: "window"), transform: Self.window)
  var window: AdminOperation.SeriesWindow = .hour

  @Option(help: ArgumentHelp("In about so many parts.", valueName: "count"))
  var points: Int64 = 12

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...2160).contains(points) else { throw ValidationError("--points must be 1 to 2160.") }
  }

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminOperation.series, query: AdminOperation.SeriesQuery(window: window, points: points))
    }
    output.print(answer, Self.text)
  }

  private static func window(_ text: String) throws -> AdminOperation.SeriesWindow {
    guard let window = AdminOperation.SeriesWindow(rawValue: text) else {
      throw ValidationError("--window must be 15m, 1h, 6h or 24h.")
    }
    return window
  }

  static func text(_ series: AdminOperation.Series) -> String {
    var table = TextTable([
      .text("FROM"), .number("COMMITS/S"), .number("EVENTS/S"), .number("ENTRIES/S"), .number("LAG P95"), .number("DEAD"),
      .number("QUEUE"), .number("WAITING"), .number("CONNECTIONS"),
    ])
    for point in series.points {
      guard point.coveredMs > 0 else {
        table.add([point.time.text] + Array(repeating: "-", count: 8))
        continue
      }
      func rate(_ count: Int64) -> String { tenths(Double(count) * 1000 / Double(point.coveredMs)) }
      table.add([
        point.time.text, rate(point.commits), rate(point.events), rate(point.grants),
        point.lagP95Micros.map { "\(tenths(Double($0) / 1000)) ms" } ?? "-", point.deadLetters.grouped, point.queue.grouped,
        point.waiting.grouped, point.connections.grouped,
      ])
    }
    return table.isEmpty ? "There is nothing yet; the server has just started." : table.render()
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\((tenths / 10).grouped).\(tenths % 10)"
  }
}

/// `doubloon backups`: the copies that there are.
struct BackupsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backups",
    abstract: "List the copies that were made, and say when the next one is due.",
    discussion: """
      Those of the schedule's folder, and those that were ordered or failed since the server started, newest first.

      Examples:
        doubloon backups
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in try await client.call(AdminOperation.backups) }
    output.print(answer, Self.text)
  }

  static func text(_ list: AdminOperation.BackupList) -> String {
    var lines = [
      list.schedule.map { "Scheduled: \($0).\(list.next.map { " The next one is due at \($0.text)." } ?? "")" }
        ?? "No backups are scheduled; \"backups\" in the configuration does that."
    ]
    if let kept = list.retention {
      lines.append("Kept: the last \(kept.last), of \(kept.daily) days and of \(kept.weekly) weeks the newest each.")
    }
    var table = TextTable([.text("TIME"), .number("SIZE"), .text("STATE"), .text("WHERE")])
    for copy in list.copies {
      let state = copy.failure.map { "FAILED: \($0)" } ?? (copy.verified == true ? "read again, whole" : "made")
      table.add([copy.time.text, copy.bytes.map(\.byteText) ?? "-", state, copy.place])
    }
    if !table.isEmpty { lines.append(table.render()) }
    return lines.joined(separator: "\n").printable
  }
}
