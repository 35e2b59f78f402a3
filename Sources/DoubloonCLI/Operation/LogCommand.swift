import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon log`: the commit log.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "The commit log: prove it, or forget its old part.",
    discussion: """
      Examples:
        doubloon log verify
        doubloon log prune --before 90d --reason "retention" --dry-run
      """,
    subcommands: [LogVerifyCommand.self, LogPruneCommand.self])
}

/// `doubloon log verify`: proves that the log is what was written.
struct LogVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every commit's hash and digest, and what refers to commits.",
    discussion: """
      Ends with exit code 1 if something is wrong; the first fault says where.

      Examples:
        doubloon log verify
        doubloon log verify --data .doubloon --ns my-game-default-rtdb
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.get(AdminPath.log + "/verify", query: server.query, timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer, Self.text)
    if answer["sound"]?.bool != true { throw ExitCode(1) }
  }

  static func text(_ answer: JSON) -> String {
    let extent =
      "\((answer["commits"]?.int ?? 0).counted("commit", "commits")), "
      + "\((answer["entries"]?.int ?? 0).counted("ledger entry", "ledger entries")), "
      + (answer["executions"]?.int ?? 0).counted("execution", "executions")
    let pruned = answer["pruned"]?.int ?? 0
    let unsealed = answer.listed("unsealed").compactMap(\.int)
    let waiting =
      unsealed.isEmpty
      ? "" : " Not finished: \(Int64(unsealed.count).counted("erasure", "erasures")); see \"doubloon accounts erasures\"."
    let forgotten =
      (pruned > 0 ? " The changes of revisions 1 to \(pruned.grouped) were pruned." : "")
      + ((answer["erased"]?.int).map { $0 > 0 ? " Of \($0.counted("commit", "commits")) a part was erased." : "" } ?? "")
      + waiting
    guard answer["sound"]?.bool != true else { return "The log is sound: \(extent).\(forgotten)" }
    let count = answer["faultCount"]?.int ?? 0
    let lines = answer.listed("faults").map { "  \($0["message"]?.string ?? "?")" }
    return (["The log is NOT SOUND, \(count.counted("fault", "faults")) (\(extent)).\(forgotten)"] + lines)
      .joined(separator: "\n").printable
  }
}

/// `doubloon log prune`: forgets what old commits changed.
struct LogPruneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Forget what old commits changed, behind a checkpoint of the tree.",
    discussion: """
      The tree, the ledger, the executions and the business keys stay, and the chain of commits still verifies. What \
      goes is the past: reads as of then, and replays of then. What an event needs that waits, or is a dead letter, is kept.

      Examples:
        doubloon log prune --before 90d --reason "retention" --dry-run
        doubloon log prune --before 2026-01-01 --reason "retention"
        doubloon log prune --before 120000 --reason "retention" --yes
      """)

  /// Up to where.
  enum Bound: Sendable {
    case revision(Int64)
    case time(TimePoint)

    init(argument text: String) throws {
      if text.utf8.allSatisfy({ (48...57).contains($0) }), let revision = Int64(text) {
        self = .revision(revision)
      } else {
        self = .time(try TimePoint(argument: text))
      }
    }
  }

  @Option(
    help: ArgumentHelp(
      "Before this time (\(TimePoint.forms)), or before this revision.", valueName: "time|revision"),
    transform: Bound.init(argument:))
  var before: Bound

  @Option(help: ArgumentHelp("Why; kept with the checkpoint.", valueName: "text"))
  var reason: String?

  @Flag(help: "Say how far it would go, and change nothing.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard reason?.isEmpty == false || dryRun else { throw ValidationError("--reason must say why, for the record.") }
    if case .revision(let revision) = before, revision < 2 { throw ValidationError("Revisions are numbered from 1.") }
  }

  func run() async throws {
    let bound: JSON.Member =
      switch before {
      case .revision(let revision): .init(key: "through", value: .int(revision - 1))
      case .time(let time): .init(key: "before", value: .int(time.milliseconds))
      }
    let answer = try await server.withClient { client in
      let preview = try await client.post(
        AdminPath.log + "/prune/preview", .object([bound]), query: server.query, timeout: ReplayStartCommand.longTimeout)
      if dryRun { return preview }
      if !yes, Self.count(preview) > 0 {
        DoubloonCommandLine.output.error(Self.text(preview, isPlan: true))
        guard try DoubloonCommandLine.question.confirm("Forget it? This cannot be taken back.") else { throw ExitCode(1) }
      }
      return try await client.post(
        AdminPath.log + "/prune", .object([bound, .init(key: "reason", value: .string(reason ?? ""))]), query: server.query,
        timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer) { Self.text($0, isPlan: dryRun) }
  }

  /// How many commits are concerned.
  private static func count(_ answer: JSON) -> Int64 {
    (answer["pruned"]?.int ?? 0) - (answer["prunedBefore"]?.int ?? 0)
  }

  static func text(_ answer: JSON, isPlan: Bool) -> String {
    let count = count(answer)
    let through = (answer["pruned"]?.int ?? 0).grouped
    var lines = [
      count == 0
        ? "There is nothing to prune: the log was pruned up to revision \(through)."
        : isPlan
          ? "The changes of \(count.counted("commit", "commits")) would be forgotten, up to revision \(through)."
          : "The changes of \(count.counted("commit", "commits")) were forgotten, up to revision \(through)."
    ]
    if let reason = answer["heldBack"]?.string { lines.append("It goes no further: \(reason).") }
    if let checkpoint = answer["checkpoint"] {
      lines.append(
        "Checkpoint: \((checkpoint["leaves"]?.int ?? 0).counted("leaf", "leaves")), \(checkpoint["treeHash"]?.string ?? "?")")
    }
    return lines.joined(separator: "\n").printable
  }
}
