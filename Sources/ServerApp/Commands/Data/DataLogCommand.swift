import ArgumentParser
import TreeModel

/// `doubloon data log`: the commits that touched a place.
struct DataLogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "List the commits that touched a path or something below it, newest first.",
    discussion: """
      Examples:
        doubloon data log /users/bob/level
        doubloon data log /users/bob --since yesterday --limit 200
      """)

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Option(
    help: ArgumentHelp("Only since then: \(TimePoint.forms).", valueName: "time"), transform: TimePoint.init(argument:))
  var since: TimePoint?

  @Option(help: ArgumentHelp("Only until then.", valueName: "time"), transform: TimePoint.init(argument:))
  var until: TimePoint?

  @Option(help: ArgumentHelp("Only commits before this one.", valueName: "revision"))
  var before: Int64?

  @Option(help: ArgumentHelp("At most so many commits.", valueName: "count"))
  var limit = 50

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
    if let before, before < 0 { throw ValidationError("--before must be a revision.") }
  }

  func run() async throws {
    let query =
      server.query
      + [
        QueryItem("path", path.text), QueryItem("since", (since?.milliseconds).map { String($0) }),
        QueryItem("until", (until?.milliseconds).map { String($0) }), QueryItem("before", before.map { String($0) }),
        QueryItem("limit", String(limit)),
      ].compactMap(\.self)
    let answer = try await server.withClient { client in try await client.get(AdminPath.dataLog, query: query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([
      .number("REVISION"), .text("TIME"), .text("BY"), .text("PATH"), .text("BEFORE"), .text("AFTER"), .text("CAUSE"),
    ])
    for commit in answer.listed("commits") { for row in rows(of: commit) { table.add(row) } }
    var text = table.isEmpty ? "No commit touched \(answer["path"]?.string ?? "the path")." : table.render()
    if let pruned = answer["prunedThrough"]?.int { text += "\n\nThe log was pruned up to revision \(pruned)." }
    text += answer.erasedText
    if let next = answer["next"]?.int { text += "\n\nThere may be more: add --before \(next)." }
    return text
  }

  /// A row for each change that is shown; the commit's own cells stand in the first.
  private static func rows(of commit: JSON) -> [[String]] {
    let cause = [
      commit["cause"].map { $0["function"]?.string ?? "-" }, commit["triggers"] == false ? "triggers suppressed" : nil,
    ].compactMap(\.self).joined(separator: ", ")
    let head = [commit["revision"]?.plainText ?? "?", commit["time"]?.timeText ?? "-", commit["actor"]?.string ?? "-"]
    let changes = commit.listed("changes")
    guard !changes.isEmpty else { return [head + ["-", "-", "-", cause]] }
    var rows = changes.enumerated().map { index, change in
      (index == 0 ? head : ["", "", ""]) + change.changeCells + [index == 0 ? cause : ""]
    }
    let rest = (commit["changeCount"]?.int ?? 0) - Int64(changes.count)
    if rest > 0 { rows.append(["", "", "", "and \(rest.grouped) more", "", "", ""]) }
    return rows
  }
}
