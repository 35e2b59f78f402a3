import AdminClient
import ArgumentParser
import NIOHTTP1
import ServerApp
import TreeModel

/// `doubloon status`: whether the server is well, and what it holds.
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Say whether the server is well, and what waits.",
    discussion: """
      Names the functions that are paused, what functions gave up on (dead letters) and what they failed on and try again, \
      each with the last event and why; and says how much room is left where the data are. Ends with exit code 1 if writes or \
      functions do not work.

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
    lines += status.listed("warnings").compactMap(\.string).map { "Warning: \($0)" }
    let rows: [(String, String?)] = [
      ("Mode", status["mode"]?.string), ("Time", status["time"]?.timeText), ("Epoch", status["epoch"]?.plainText),
      ("Namespaces", status["namespaces"]?.plainText), ("Default namespace", status["defaultNamespace"]?.string),
      ("Waiting writes", status["writer"]?["queueDepth"]?.plainText),
    ]
    var table = TextTable([.text("name"), .text("value")])
    for (name, value) in rows { table.add([name, value ?? "-"]) }
    for (name, value) in troubles(status) { table.add([name, value]) }
    if let disk = status["disk"], let free = disk["freeBytes"]?.int, let total = disk["totalBytes"]?.int {
      table.add(["Disk", "\(free.byteText) of \(total.byteText) free at \(disk["folder"]?.string ?? "?")"])
    }
    return (lines + table.lines(showsTitles: false)).joined(separator: "\n").printable
  }

  /// What functions have not done, and where to look.
  private static func troubles(_ status: JSON) -> [(String, String)] {
    var rows: [(String, String)] = []
    for function in status.listed("pausedFunctions") {
      let reason = function["reason"]?.string ?? ""
      rows.append(("Paused", (function["name"]?.string ?? "?") + (reason.isEmpty ? "" : ": \(reason)")))
    }
    for (title, member) in [("Dead letters", "deadLetters"), ("Tried again", "retries")] {
      guard let troubles = status[member], let count = troubles["count"]?.int else { continue }
      let isAll = troubles["complete"]?.bool ?? true
      rows.append((title, "\(count.grouped)\(isAll ? "" : " or more")"))
      for pile in troubles.listed("functions") {
        rows.append(
          (
            "",
            "\(pile["function"]?.string ?? "?"): \((pile["count"]?.int ?? 0).grouped), the last on "
              + "\(pile["event"]?.string ?? "?"): \(pile["error"]?.string ?? "")"
          ))
      }
    }
    return rows
  }
}
