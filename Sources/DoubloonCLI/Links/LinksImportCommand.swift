import AdminClient
import AdminModel
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
      var report = AdminLinks.ImportReport(created: 0, unchanged: 0, refused: 0, rows: [])
      for start in stride(from: 0, to: rows.count, by: Self.rowsMax) {
        let part = Array(rows[start..<min(start + Self.rowsMax, rows.count)])
        let order = AdminLinks.ImportOrder(
          csv: ((hasHeader ? [header] : []) + part).map(LinkCSV.line).joined(), prefix: prefix, dryRun: dryRun)
        let answer = try await client.call(
          AdminLinks.take, body: order, namespace: server.namespace, timeout: .seconds(120)
        ).value
        report.add(answer, from: Int64(start))
        progress.show("\((start + part.count).grouped) of \(rows.count.grouped) rows")
      }
      return report
    }
    output.print(JSON(encoding: report)) { _ in report.text(isDryRun: dryRun) }
    if report.refused > 0 { throw ExitCode(1) }
  }
}

extension AdminLinks.ImportReport {
  /// Adds what became of the rows from a place in the table on.
  fileprivate mutating func add(_ part: AdminLinks.ImportReport, from start: Int64) {
    created += part.created
    unchanged += part.unchanged
    rows += part.rows.map { AdminLinks.RefusedRow(row: $0.row + start, link: $0.link, problem: $0.problem) }
    refused = Int64(rows.count)
  }

  fileprivate func text(isDryRun: Bool) -> String {
    let verb = isDryRun ? "would be created" : "created"
    let head = "\(created.grouped) \(verb), \(unchanged.grouped) there already, \(refused.grouped) refused"
    return ([head] + rows.map { "row \($0.row): \($0.link): \($0.problem)".printable }).joined(separator: "\n")
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
        let page = try await client.call(
          AdminLinks.list, query: AdminLinks.ListQuery(limit: 1000, cursor: cursor), namespace: server.namespace
        ).value
        for link in page.links {
          let state = link.disabledAt == nil ? "enabled" : LinkImport.disabledState
          lines.append(LinkCSV.line([link.name ?? "", link.shortLink, link.longLink, state]))
        }
        cursor = page.next
        progress.show("\((lines.count - 1).grouped) links")
      } while cursor != nil
      return lines.joined()
    }
    guard let out else { return DoubloonCommandLine.output.out(Array(text.utf8)) }
    try FileBytes.write(Array(text.utf8), to: out)
  }
}
