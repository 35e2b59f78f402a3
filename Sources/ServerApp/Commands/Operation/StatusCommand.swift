import ArgumentParser
import NIOHTTP1
import TreeModel

/// `doubloon status`: whether the server is well, and what it holds.
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say whether the server is well, and what waits.",
    discussion: """
      Ends with exit code 1 if writes or functions do not work.

      Examples:
        doubloon status
        doubloon status --json
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let (ready, status) = try await server.withClient(spansNamespaces: true) { client in
      // 503 is an answer here: the reasons are in it.
      let ready = try await client.send(.GET, "/readyz").json()
      return (ready, try await client.get(AdminPath.status, query: server.query))
    }
    output.print(["ready": ready, "server": status]) { _ in Self.text(ready: ready, status: status) }
    if ready["status"]?.string != "ready" { throw ExitCode(1) }
  }

  static func text(ready: JSON, status: JSON) -> String {
    var lines: [String] = []
    if ready["status"]?.string == "ready" {
      lines.append("The server is ready.")
    } else {
      lines.append("The server is not ready:")
      lines += ready.listed("reasons").map { "  \($0.string ?? $0.compactText)" }
    }
    let rows: [(String, String?)] = [
      ("Mode", status["mode"]?.string), ("Time", status["time"]?.timeText), ("Epoch", status["epoch"]?.plainText),
      ("Namespaces", status["namespaces"]?.plainText), ("Default namespace", status["defaultNamespace"]?.string),
      ("Waiting writes", status["writer"]?["queueDepth"]?.plainText),
    ]
    var table = TextTable([.text("name"), .text("value")])
    for (name, value) in rows { table.add([name, value ?? "-"]) }
    return (lines + table.lines(showsTitles: false)).joined(separator: "\n").printable
  }
}
