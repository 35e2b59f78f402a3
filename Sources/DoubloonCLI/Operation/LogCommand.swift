import AdminClient
import AdminModel
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
    subcommands: [LogVerifyCommand.self, LogVerificationCommand.self, LogPruneCommand.self])
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
        doubloon log verify --background
      """)

  @Flag(help: "Begin it on the server and do not wait; \"doubloon log verification\" says how far it is.")
  var background = false

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    if background {
      let begun = try await server.withClient { client in
        try await client.call(AdminLogs.beginVerification, body: EmptyBody(), namespace: server.namespace)
      }
      return output.print(begun, LogVerificationCommand.text)
    }
    let answer = try await server.withClient { client in
      try await client.call(AdminLogs.verify, namespace: server.namespace, timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer, Self.text)
    if !answer.value.sound { throw ExitCode(1) }
  }

  static func text(_ report: AdminLogs.Verification) -> String {
    let extent =
      "\(report.commits.counted("commit", many: "commits")), \(report.entries.counted("ledger entry", many: "ledger entries")), "
      + report.executions.counted("execution", many: "executions")
    let unsealed = report.unsealed.count
    let forgotten =
      (report.pruned > 0 ? " The changes of revisions 1 to \(report.pruned.grouped) were pruned." : "")
      + (report.erased > 0 ? " Of \(report.erased.counted("commit", many: "commits")) a part was erased." : "")
      + (unsealed > 0
        ? " Not finished: \(unsealed.counted("erasure", many: "erasures")); see \"doubloon accounts erasures\"." : "")
    guard !report.sound else { return "The log is sound: \(extent).\(forgotten)" }
    let head = "The log is NOT SOUND, \(report.faultCount.counted("fault", many: "faults")) (\(extent)).\(forgotten)"
    return ([head] + report.faults.map { "  \($0.message)" }).joined(separator: "\n").printable
  }
}

/// `doubloon log verification`: how an audit in the background is.
struct LogVerificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verification",
    abstract: "Say how far an audit in the background is, or what it came to.",
    discussion: """
      Ends with exit code 1 if something is wrong with the log, or the audit failed.

      Examples:
        doubloon log verification
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(AdminLogs.verification, namespace: server.namespace)
    }
    output.print(answer, Self.text)
    if answer.value.state == .failed || answer.value.result?.sound == false { throw ExitCode(1) }
  }

  static func text(_ audit: AdminLogs.BackgroundVerification) -> String {
    switch audit.state {
    case .none:
      "There was no audit in the background since the server started; \"doubloon log verify --background\" begins one."
    case .running:
      "Under way since \(audit.startedAt.text): \(audit.commits.grouped) of "
        + "\(audit.commitCount.counted("commit", many: "commits")), \(audit.entries.grouped) of "
        + "\(audit.entryCount.counted("ledger entry", many: "ledger entries"))."
    case .done: audit.result.map { "Ended at \(audit.endedAt.text). \(LogVerifyCommand.text($0))" } ?? "Done."
    case .failed: "It failed at \(audit.endedAt.text): \(audit.failure ?? "the reason is not known")".printable
    }
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
    let (through, time): (Int64?, Timestamp?) =
      switch before {
      case .revision(let revision): (revision - 1, nil)
      case .time(let time): (nil, Timestamp(time.milliseconds))
      }
    let answer = try await server.withClient { client in
      let preview = try await client.call(
        AdminLogs.previewPruning, body: AdminLogs.PrunePreviewOrder(through: through, before: time),
        namespace: server.namespace, timeout: ReplayStartCommand.longTimeout)
      if dryRun { return preview }
      if !yes, preview.value.count > 0 {
        DoubloonCommandLine.output.error(Self.text(preview.value, isPlan: true))
        guard try DoubloonCommandLine.question.confirm("Forget it? This cannot be taken back.") else { throw ExitCode(1) }
      }
      return try await client.call(
        AdminLogs.prune, body: AdminLogs.PruneOrder(through: through, before: time, reason: reason ?? ""),
        namespace: server.namespace, timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer) { Self.text($0, isPlan: dryRun) }
  }

  static func text(_ pruning: AdminLogs.Pruning, isPlan: Bool) -> String {
    let through = pruning.pruned.grouped
    let commits = pruning.count.counted("commit", many: "commits")
    var lines = [
      pruning.count == 0
        ? "There is nothing to prune: the log was pruned up to revision \(through)."
        : "The changes of \(commits) \(isPlan ? "would be" : "were") forgotten, up to revision \(through)."
    ]
    if let reason = pruning.heldBack { lines.append("It goes no further: \(reason).") }
    if let checkpoint = pruning.checkpoint {
      lines.append("Checkpoint: \(checkpoint.leaves.counted("leaf", many: "leaves")), \(checkpoint.treeHash)")
    }
    return lines.joined(separator: "\n").printable
  }
}

extension AdminLogs.Pruning {
  /// How many commits are concerned.
  fileprivate var count: Int64 { pruned - prunedBefore }
}
