import AdminClient
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

  @OptionGroup
  var span: TimeSpan

  @Option(help: ArgumentHelp("Only commits before this one.", valueName: "revision"))
  var before: Int64?

  @OptionGroup
  var listing: ListingOptions

  mutating func validate() throws {
    if let before, before < 0 { throw ValidationError("--before must be a revision.") }
  }

  func run() async throws {
    let place = [QueryItem("path", path.text), QueryItem("before", before.map { String($0) })]
    let answer = try await listing.page(of: AdminPath.dataLog, place + span.query)
    listing.output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([
      .number("REVISION"), .text("TIME"), .text("BY"), .text("PATH"), .text("BEFORE"), .text("AFTER"), .text("CAUSE"),
    ])
    for commit in answer.listed("commits") { for row in rows(of: commit) { table.add(row) } }
    var text = table.isEmpty ? "No commit touched \(answer["path"]?.string ?? "the path")." : table.render()
    if let pruned = answer["prunedThrough"]?.int { text += "\n\nThe log was pruned up to revision \(pruned)." }
    return text + answer.erasedText + answer.goingOn(with: "--before")
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
