import AdminClient
import ArgumentParser
import Links
import NIOCore
import ServerApp
import ServerConfiguration
import TreeModel

/// `doubloon links import`: links from elsewhere, with their suffixes.
struct LinksImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Bring links along: a table of short and long links, each keeps its suffix.",
    discussion: """
      The first row names the columns: "short link" and "long link", perhaps "link name" and "state"; what Firebase Dynamic \
      Links exported, and what "doubloon links export" writes. A link whose state is "disabled" is created so. A printed code with the old suffix works again once your domain \
      points here; links on page.link itself cannot be kept, for that domain is not yours.

      Examples:
        doubloon links import exported.csv --prefix https://go.acme.test/r --dry-run
        doubloon links import exported.csv --prefix https://go.acme.test/r
      """)

  @Argument(help: "The file; - reads the standard input.")
  var file: String

  @Option(help: ArgumentHelp("Where the suffixes are to live. (default: each link's own prefix)", valueName: "url"))
  var prefix: String?

  @Flag(help: "Only say what would become of each row.")
  var dryRun = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// Rows in one request.
  private static let rowsMax = 500

  func run() async throws {
    guard let text = String(validating: try FileBytes.read(file), as: UTF8.self), let table = LinkCSV.rows(text) else {
      throw CommandError("\(file) is no table of comma-separated values in UTF-8.")
    }
    let hasHeader = table.first.map { !$0.contains { $0.contains("://") } } ?? false
    let header = hasHeader ? table[0] : []
    let rows = Array(table.dropFirst(hasHeader ? 1 : 0))
    let report = try await server.withClient { client in
      var progress = ProgressLine(DoubloonCommandLine.output)
      defer { progress.clear() }
      var report = Report()
      for start in stride(from: 0, to: rows.count, by: Self.rowsMax) {
        let part = Array(rows[start..<min(start + Self.rowsMax, rows.count)])
        let answer = try await client.post(
          AdminPath.linkImport, body((hasHeader ? [header] : []) + part), query: server.query, timeout: .seconds(120))
        report.add(answer, start)
        progress.show("\((start + part.count).grouped) of \(rows.count.grouped) rows")
      }
      return report
    }
    output.print(report.json) { _ in report.text(isDryRun: dryRun) }
    if !report.refused.isEmpty { throw ExitCode(1) }
  }

  private func body(_ rows: [[String]]) -> JSON {
    var members: [JSON.Member] = [
      JSON.Member(key: "csv", value: .string(rows.map(LinkCSV.line).joined())),
      JSON.Member(key: "dryRun", value: .bool(dryRun)),
    ]
    if let prefix { members.append(JSON.Member(key: "prefix", value: .string(prefix))) }
    return .object(members)
  }

  /// What became of all rows.
  struct Report {
    var created: Int64 = 0
    var unchanged: Int64 = 0
    var refused: [(row: Int64, link: String, problem: String)] = []

    mutating func add(_ answer: JSON, _ offset: Int) {
      created += answer["created"]?.int ?? 0
      unchanged += answer["unchanged"]?.int ?? 0
      for row in answer.listed("rows") {
        refused.append(
          (
            (row["row"]?.int ?? 0) + Int64(offset), row["link"]?.string ?? "?", row["problem"]?.string ?? "?"
          ))
      }
    }

    var json: JSON {
      [
        "created": .int(created), "unchanged": .int(unchanged), "refused": .int(Int64(refused.count)),
        "rows": .array(
          refused.map { ["row": .int($0.row), "link": .string($0.link), "problem": .string($0.problem)] }),
      ]
    }

    func text(isDryRun: Bool) -> String {
      let verb = isDryRun ? "would be created" : "created"
      let head = "\(created.grouped) \(verb), \(unchanged.grouped) there already, \(refused.count.grouped) refused"
      return ([head] + refused.map { "row \($0.row): \($0.link): \($0.problem)".printable }).joined(separator: "\n")
    }
  }
}

/// `doubloon links export`: all links as a table.
struct LinksExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all links as a table that \"links import\" reads.",
    discussion: """
      The column "State" says which are disabled; an import creates those disabled.

      Examples:
        doubloon links export > links.csv
        doubloon links export --out links.csv
      """)

  @Option(help: ArgumentHelp("Write into this file instead.", valueName: "file"))
  var out: String?

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let text = try await server.withClient { client in
      var progress = ProgressLine(DoubloonCommandLine.output)
      defer { progress.clear() }
      var lines = [LinkCSV.line(["Link name", "Short link", "Long link", "State"])]
      var cursor: String?
      repeat {
        var query = server.query + [QueryItem("limit", "1000")]
        if let cursor { query.append(QueryItem("cursor", cursor)) }
        let page = try await client.get(AdminPath.links, query: query)
        for link in page.listed("links") {
          let fields = [link["name"], link["shortLink"], link["longLink"]].map { $0?.string ?? "" }
          lines.append(LinkCSV.line(fields + [link["disabledAt"] == nil ? "enabled" : LinkImport.disabledState]))
        }
        cursor = page["next"]?.string
        progress.show("\((lines.count - 1).grouped) links")
      } while cursor != nil
      return lines.joined()
    }
    guard let out else { return DoubloonCommandLine.output.out(Array(text.utf8)) }
    try FileBytes.write(Array(text.utf8), to: out)
  }
}
