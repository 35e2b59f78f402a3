import AdminClient
import ArgumentParser
import NIOCore
import TreeModel

/// `doubloon replay [start]`: looks, asks, and does it.
struct ReplayStartCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Begin a replay (what \"doubloon replay\" does by itself).")

  /// How long the server may look before it answers, in seconds.
  static let patience = TimeAmount.minutes(60)

  @OptionGroup(title: "What")
  var selection: ReplaySelection

  @Option(help: ArgumentHelp("Why; kept with the replay.", valueName: "text"))
  var reason: String?

  @Flag(help: "Print what would change, and change nothing.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var yes = false

  @Flag(help: "Do not wait for the end.")
  var detach = false

  @Option(help: ArgumentHelp("With --rebuild: keep what was built in this empty folder, on the server.", valueName: "dir"))
  var into: String?

  @Flag(help: "With --rebuild: run the functions too, and list what they would do differently today.")
  var rerun = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard selection.mode != .rebuild else {
      guard !dryRun, !detach else {
        throw ValidationError("--rebuild changes nothing and is waited for: leave out --dry-run and --detach.")
      }
      return
    }
    guard reason?.isEmpty == false || dryRun else { throw ValidationError("--reason must say why, for the record.") }
    guard into == nil, !rerun else { throw ValidationError("--into and --rerun belong to --rebuild.") }
  }

  func run() async throws {
    if selection.mode == .rebuild { return try await rebuild() }
    let body = selection.body(reason: reason ?? "dry run")
    try await server.withClient { client in
      if dryRun {
        let answer = try await client.post(
          AdminPath.replays + "/dry-run", body, query: server.query, timeout: Self.patience)
        return output.print(answer, ReplayText.dryRun)
      }
      if !yes {
        let goesOn = try await confirm(body, client)
        if !goesOn { throw ExitCode(1) }
      }
      let started = try await client.post(AdminPath.replays, body, query: server.query, timeout: Self.patience)
      let ended = detach ? started : try await follow(started, client)
      output.print(ended, ReplayText.record)
      if ended["state"]?.string == "failed" { throw ExitCode(1) }
    }
  }

  private func confirm(_ body: JSON, _ client: AdminClient) async throws -> Bool {
    let preview = try await client.post(
      AdminPath.replays + "/preview", body, query: server.query, timeout: Self.patience)
    DoubloonCommandLine.output.error(ReplayText.preview(preview))
    guard (preview["survey"]?["run"]?.int ?? 0) > 0 else {
      // Nothing to ask; the replay is begun for its record.
      return true
    }
    return try DoubloonCommandLine.question.confirm("Go on?")
  }

  /// Shows the progress until the replay is over, or was paused.
  private func follow(_ started: JSON, _ client: AdminClient) async throws -> JSON {
    var record = started
    var line = ProgressLine(DoubloonCommandLine.output)
    var pause = Duration.milliseconds(20)
    while record["state"]?.string == "running" {
      line.show(ReplayText.progress(record))
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(500))
      record = try await client.get(AdminPath.replay(record["id"]?.int ?? 0), query: server.query)
    }
    line.clear()
    return record
  }

  private func rebuild() async throws {
    var members: [JSON.Member] = []
    if let reason { members.append(.init(key: "reason", value: .string(reason))) }
    if let into { members.append(.init(key: "into", value: .string(into))) }
    if rerun { members.append(.init(key: "rerun", value: .bool(true))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.replays + "/rebuild", body, query: server.query, timeout: Self.patience)
    }
    output.print(answer, ReplayText.rebuild)
    if answer["equal"]?.bool != true { throw ExitCode(1) }
  }
}
