import AdminClient
import ArgumentParser
import NIOCore
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

/// `doubloon namespaces`: what the server or the folder holds.
struct NamespacesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "namespaces",
    abstract: "List the namespaces, each a tree with its own log and ledger.",
    discussion: """
      A command is about the server's default namespace, PROJECT-default-rtdb, unless --ns names another one. Clients name \
      theirs by the address of their database.

      Examples:
        doubloon namespaces
        doubloon namespaces --data .doubloon
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let (answer, fallback) = try await server.withClient(spansNamespaces: true) { client in
      (try await client.get(AdminPath.namespaces), try await client.get(AdminPath.status)["defaultNamespace"]?.string)
    }
    output.print(answer) { Self.text($0, default: fallback) }
  }

  static func text(_ answer: JSON, default fallback: String?) -> String {
    var table = TextTable([.text("NAMESPACE"), .text("CREATED"), .number("REVISION"), .number("LEDGER ENTRIES"), .text("")])
    for row in answer.listed("namespaces") {
      let name = row["name"]?.string ?? "?"
      table.add([
        name, row["createdAt"]?.timeText ?? "-", (row["revision"]?.int ?? 0).grouped, (row["entries"]?.int ?? 0).grouped,
        name == fallback ? "default" : "",
      ])
    }
    return table.isEmpty ? "There are no namespaces yet; one appears with the first write." : table.render()
  }
}

/// `doubloon drain`: waits until functions have caught up.
struct DrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Wait until the events committed so far are settled.",
    discussion: """
      Runs that wait for a retry, are paused, or are dead letters count as settled, and are listed. Ends with exit code \
      1 if something is still running after the time.

      Examples:
        doubloon drain
        doubloon drain --timeout 120
      """)

  @Option(help: ArgumentHelp("How long to wait.", valueName: "seconds"))
  var timeout: Int64 = 30

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard (0...3600).contains(timeout) else { throw ValidationError("--timeout must be 0 to 3600 seconds.") }
  }

  func run() async throws {
    let response = try await server.withClient(spansNamespaces: true) { client in
      try await client.send(
        .POST, AdminPath.drain, query: server.query + [QueryItem("timeout", "\(timeout)s")], body: Array("{}".utf8),
        timeout: .seconds(timeout + 30))
    }
    // 504 is an answer here: the list is in it.
    let answer = try response.status == 504 ? response.json() : response.checked().json()
    output.print(answer, Self.text)
    if response.status == 504 { throw ExitCode(1) }
  }

  static func text(_ answer: JSON) -> String {
    let running = answer.listed("running")
    let unfinished = answer.listed("unfinished")
    var lines = [running.isEmpty ? "Everything is settled." : "Still running after the time:"]
    lines += running.map { "  \($0.plainText)" }
    if !unfinished.isEmpty {
      lines.append("Settled, but not done:")
      lines += unfinished.map { "  \($0.plainText)" }
    }
    return lines.joined(separator: "\n").printable
  }
}
