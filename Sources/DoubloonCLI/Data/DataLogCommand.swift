import AdminClient
import ArgumentParser
import ServerApp
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

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

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
    return text + answer.erasedText + answer.nextPageText(with: "--before")
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

/// `doubloon data diff`: what is different between two states of a place.
struct DataDiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show what is different at a path between two moments.",
    discussion: """
      Moments are revisions or times; without --to, it is now. Priorities are shown as .priority.

      Examples:
        doubloon data diff /users/bob --from yesterday
        doubloon data diff /users/bob/inventory --from 4700 --to 4711
      """)

  @Argument(help: "The place in the tree.", transform: PathArgument.init(argument:))
  var path: PathArgument

  @Option(
    help: ArgumentHelp("From \(TreeMoment.forms).", valueName: "time|revision"), transform: TreeMoment.init(argument:))
  var from: TreeMoment

  @Option(
    help: ArgumentHelp("To then; now if it is not given.", valueName: "time|revision"), transform: TreeMoment.init(argument:))
  var to: TreeMoment?

  @Option(help: ArgumentHelp("At most so many differences.", valueName: "count"))
  var limit = 1000

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") }
  }

  func run() async throws {
    let query =
      server.query
      + [
        QueryItem("path", path.text), from.parameter(revision: "from", time: "fromTime"),
        to?.parameter(revision: "to", time: "toTime"), QueryItem("limit", String(limit)),
      ].compactMap(\.self)
    let answer = try await server.withClient { client in try await client.get(AdminPath.dataDiff, query: query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    let changes = answer.listed("changes")
    let ends = "revision \(answer["from"]?.plainText ?? "?") and revision \(answer["to"]?.plainText ?? "?")"
    let erased = answer.erasedText
    guard !changes.isEmpty else { return "Nothing is different between \(ends).\(erased)" }
    var table = TextTable([.text("PATH"), .text("BEFORE"), .text("AFTER")])
    for change in changes { table.add(change.changeCells) }
    let count = answer["count"]?.int ?? 0
    let rest = count > Int64(changes.count) ? "; the first \(changes.count.grouped) are shown" : ""
    return table.render() + "\n\n\(count.counted("difference", "differences")) between \(ends)\(rest).\(erased)"
  }
}

extension JSON {
  /// What a look into the past does not show, behind an empty line: places of players who left; empty if there is none.
  var erasedText: String {
    let places = listed("erased").compactMap { place -> String? in
      guard let path = place["path"]?.string else { return nil }
      return "\(path) was erased up to revision \(place["through"]?.plainText ?? "?"), at \(place["at"]?.timeText ?? "?") by "
        + "\(place["by"]?.string ?? "?"): \(place["reason"]?.string ?? "")"
    }
    return places.isEmpty ? "" : "\n\n" + places.joined(separator: "\n").printable
  }

  /// The cells of a change: path, before, after; a dash stands for nothing.
  var changeCells: [String] {
    [self["path"]?.string ?? "?"]
      + ["before", "after"].map { name in
        guard let value = self[name], !value.isNull else { return "-" }
        return value.compactText
      }
  }
}
