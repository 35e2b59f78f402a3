import AdminClient
import ArgumentParser
import Links
import ServerConfiguration
import TreeModel

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
