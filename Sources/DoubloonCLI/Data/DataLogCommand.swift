import AdminClient
import AdminModel
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
    let query = AdminHistory.LogQuery(
      path: path.text, before: before, since: span.from, until: span.through, limit: listing.count)
    listing.output.print(try await listing.page(of: AdminHistory.log, query: query), Self.text)
  }

  static func text(_ log: AdminHistory.Log) -> String {
    var table = TextTable([
      .number("REVISION"), .text("TIME"), .text("BY"), .text("PATH"), .text("BEFORE"), .text("AFTER"), .text("CAUSE"),
    ])
    for commit in log.commits { for row in rows(of: commit) { table.add(row) } }
    var text = table.isEmpty ? "No commit touched \(log.path)." : table.render()
    if let pruned = log.prunedThrough { text += "\n\nThe log was pruned up to revision \(pruned)." }
    return text + log.erased.text + TextTable.nextPageText(log.next.map { String($0) }, by: "--before")
  }

  /// A row for each change that is shown; the commit's own cells are in the first.
  private static func rows(of commit: AdminEvents.Commit) -> [[String]] {
    let cause = [commit.cause?.function, commit.triggers ? nil : "triggers suppressed"].compactMap(\.self)
      .joined(separator: ", ")
    let head = [String(commit.revision), commit.time.text, commit.actor]
    let changes = commit.changes ?? []
    guard !changes.isEmpty else { return [head + ["-", "-", "-", cause]] }
    var rows = changes.enumerated().map { index, change in
      (index == 0 ? head : ["", "", ""]) + change.cells + [index == 0 ? cause : ""]
    }
    let rest = (commit.changeCount ?? 0) - Int64(changes.count)
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
    let (start, end) = (from.parameters, to?.parameters)
    let query = AdminHistory.DifferenceQuery(
      path: path.text, from: start.revision, fromTime: start.time, to: end?.revision, toTime: end?.time, limit: Int64(limit))
    let answer = try await server.withClient { client in
      try await client.call(AdminHistory.difference, query: query, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ difference: AdminHistory.Difference) -> String {
    let ends = "revision \(difference.from) and revision \(difference.to)"
    let erased = difference.erased.text
    guard !difference.changes.isEmpty else { return "Nothing is different between \(ends).\(erased)" }
    var table = TextTable([.text("PATH"), .text("BEFORE"), .text("AFTER")])
    for change in difference.changes { table.add(change.cells) }
    let (count, shown) = (difference.count, difference.changes.count)
    let rest = count > Int64(shown) ? "; the first \(shown.grouped) are shown" : ""
    return table.render() + "\n\n\(count.counted("difference", many: "differences")) between \(ends)\(rest).\(erased)"
  }
}

extension [AdminEvents.ErasedPath]? {
  /// What a look into the past does not show, behind an empty line: paths of players who left; empty if there is none.
  var text: String {
    let lines = (self ?? []).map { path in
      "\(path.path) was erased up to revision \(path.through), at \(path.at.text) by \(path.by): \(path.reason)"
    }
    return lines.isEmpty ? "" : "\n\n" + lines.joined(separator: "\n").printable
  }
}

extension AdminEvents.Change {
  /// Path, before, after; a dash stands for nothing.
  fileprivate var cells: [String] { [path] + [before, after].map { $0.isNull ? "-" : $0.compactText } }
}
