import AdminClient
import AdminModel
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

      With --ready it asks for no more than that, and needs no key: what containers and balancers check again and again.

      Examples:
        doubloon status
        doubloon status --ready
        doubloon status --json
      """)

  @Flag(name: .customLong("ready"), help: "Ask only whether writes and functions work; without a key.")
  var asksReadiness = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    if asksReadiness { return try await printReadiness() }
    let (ready, status) = try await server.withClient(spansNamespaces: true) { client in
      (
        try await client.call(AdminSystem.readiness),
        try await client.call(AdminSystem.status, namespace: server.namespace)
      )
    }
    output.print(["ready": ready.json, "server": status.json]) { _ in Self.text(ready: ready.value, status: status.value) }
    if !ready.value.isReady { throw ExitCode(1) }
  }

  private func printReadiness() async throws {
    let ready = try await server.withClient(spansNamespaces: true) { try await $0.call(AdminSystem.readiness) }
    output.print(ready) { Self.lines(ready: $0).joined(separator: "\n").printable }
    if !ready.value.isReady { throw ExitCode(1) }
  }

  private static func lines(ready: AdminSystem.Readiness) -> [String] {
    ready.isReady ? ["The server is ready."] : ["The server is not ready:"] + (ready.reasons ?? []).map { "  \($0)" }
  }

  static func text(ready: AdminSystem.Readiness, status: AdminSystem.Status) -> String {
    var lines = lines(ready: ready)
    lines += status.warnings.map { "Warning: \($0)" }
    var table = TextTable([.text("name"), .text("value")])
    for (name, value) in [
      ("Version", status.version), ("Mode", status.mode.rawValue), ("Started", status.startedAt.text),
      ("Time", status.time.text), ("Epoch", String(status.epoch)),
      ("Namespaces", String(status.namespaces)), ("Default namespace", status.defaultNamespace),
      ("Waiting writes", String(status.writer.queueDepth)),
      (
        "Listening",
        "\(status.sockets.counted("socket", many: "sockets")), \(status.streams.counted("stream", many: "streams")), "
          + status.listens.counted("listen", many: "listens")
      ),
    ] + placeRows(status) {
      table.add([name, value])
    }
    for (name, value) in functionRows(status) { table.add([name, value]) }
    if let disk = status.disk {
      table.add(["Disk", "\(disk.freeBytes.byteText) of \(disk.totalBytes.byteText) free at \(disk.folder)"])
    }
    for (name, value) in maintenanceRows(status) { table.add([name, value]) }
    return (lines + table.lines(showsTitles: false)).joined(separator: "\n").printable
  }

  /// Where the namespace's log stands, and how far behind functions are.
  private static func placeRows(_ status: AdminSystem.Status) -> [(String, String)] {
    let pruned = status.prunedThrough.map { ", pruned through \($0.grouped)" } ?? ""
    let p95 = status.lagP95Micros.map { ", 95 of 100 effects within \(($0 / 1000).grouped) ms" } ?? ""
    return [
      status.revision.map { ("Revision", $0.grouped + pruned) },
      status.lagMs.map { ("Behind", ($0 == 0 ? "no event waits" : "the oldest event waits for \($0.grouped) ms") + p95) },
    ].compactMap(\.self)
  }

  /// How the last verification and the last backup ended, as far as the server knows.
  private static func maintenanceRows(_ status: AdminSystem.Status) -> [(String, String)] {
    let verified = status.lastVerification.map { last in
      ("Verified", "\(last.at.text), \(last.sound ? "sound" : "faults were found: doubloon verify"), in \(last.durationMs) ms")
    }
    let backup = status.lastBackup.map { last in
      ("Last backup", last.at.text + (last.failure.map { ", failed: \($0)" } ?? ""))
    }
    return [verified, backup].compactMap(\.self)
  }

  /// What functions have not done, and where to look.
  private static func functionRows(_ status: AdminSystem.Status) -> [(String, String)] {
    var rows = status.pausedFunctions.map { ("Paused", $0.name + ($0.reason.isEmpty ? "" : ": \($0.reason)")) }
    for (title, failures) in [("Dead letters", status.deadLetters), ("Tried again", status.retries)] {
      rows.append((title, "\(failures.count.grouped)\(failures.complete ? "" : " or more")"))
      rows += failures.functions.map { found in
        ("", "\(found.function): \(found.count.grouped), the last on \(found.event): \(found.error)")
      }
    }
    return rows
  }
}

extension AdminSystem.Readiness {
  fileprivate var isReady: Bool { status == "ready" }
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
      (try await client.call(AdminSystem.namespaces), try await client.call(AdminSystem.status).value.defaultNamespace)
    }
    output.print(answer) { Self.text($0, default: fallback) }
  }

  static func text(_ list: AdminSystem.NamespaceList, default fallback: String) -> String {
    var table = TextTable([.text("NAMESPACE"), .text("CREATED"), .number("REVISION"), .number("LEDGER ENTRIES"), .text("")])
    for row in list.namespaces {
      table.add([
        row.name, row.createdAt.text, row.revision.grouped, row.entries.grouped, row.name == fallback ? "default" : "",
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
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(
        AdminEvents.drain, query: AdminEvents.DrainQuery(timeout: "\(timeout)s"), body: EmptyBody(),
        namespace: server.namespace, timeout: .seconds(timeout + 30))
    }
    output.print(answer, Self.text)
    // 504 is an answer here: the list is in it.
    if answer.status == 504 { throw ExitCode(1) }
  }

  static func text(_ report: AdminEvents.DrainReport) -> String {
    var lines = [report.running.isEmpty ? "Everything is settled." : "Still running after the time:"]
    lines += report.running.map { "  \(line($0))" }
    if !report.unfinished.isEmpty {
      lines.append("Settled, but not done:")
      lines += report.unfinished.map { "  \(line($0))" }
    }
    return lines.joined(separator: "\n").printable
  }

  private static func line(_ run: AdminEvents.DrainedRun) -> String {
    [("event", run.event), ("function", run.function), ("state", run.state?.rawValue), ("error", run.error.value)]
      .compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
  }
}
