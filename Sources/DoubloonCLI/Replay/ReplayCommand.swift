import AdminClient
import AdminModel
import ArgumentParser
import NIOCore
import StorageCore
import TreeModel

/// `doubloon replay`: gives events to functions again, or for the first time.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Give events to functions again: the failed ones, the gaps, or all. Nothing is paid twice.",
    discussion: """
      Look first: --dry-run prints what would change, and changes nothing. Without --yes the counts and the coins are \
      printed, and you are asked.

      Examples:
        doubloon replay --failed --function rewardReferrals --reason "fixed in 1.4.2"
        doubloon replay --gaps --function welcomeGift --reason "deployed late" --dry-run
        doubloon replay --event 1-42:/users/bob/level --reason "ticket 512"
        doubloon replay --all --reason "audit" --yes
        doubloon replay --rebuild
        doubloon replay list
        doubloon replay pause 3
      """,
    subcommands: [
      ReplayStartCommand.self, ReplayListCommand.self, ReplayShowCommand.self, ReplayPauseCommand.self,
      ReplayResumeCommand.self, ReplayCancelCommand.self,
    ],
    defaultSubcommand: ReplayStartCommand.self)
}

/// `doubloon replay [start]`: looks, asks, and does it.
struct ReplayStartCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start",
    abstract: "Begin a replay (what \"doubloon replay\" does by itself).")

  /// How long the server may look before it answers, in seconds.
  static let longTimeout = TimeAmount.minutes(60)

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
    let order = selection.order(reason: reason ?? "dry run")
    try await server.withClient { client in
      if dryRun {
        let trial = try await client.call(
          AdminReplays.dryRun, body: order, namespace: server.namespace, timeout: Self.longTimeout)
        return output.print(trial, ReplayText.dryRun)
      }
      if !yes {
        let goesOn = try await confirm(order, client: client)
        if !goesOn { throw ExitCode(1) }
      }
      let started = try await client.call(
        AdminReplays.start, body: order, namespace: server.namespace, timeout: Self.longTimeout)
      let ended = detach ? started : try await follow(started, client: client)
      output.print(ended, ReplayText.record)
      if ended.value.state == .failed { throw ExitCode(1) }
    }
  }

  private func confirm(_ order: AdminReplays.Order, client: AdminClient) async throws -> Bool {
    let preview = try await client.call(
      AdminReplays.preview, body: order, namespace: server.namespace, timeout: Self.longTimeout
    ).value
    DoubloonCommandLine.output.error(ReplayText.preview(preview))
    // Without events there is nothing to ask; the replay is begun for its record.
    return try preview.survey.run == 0 || DoubloonCommandLine.question.confirm("Go on?")
  }

  /// Shows the progress until the replay is over, or was paused.
  private func follow(_ started: AdminAnswer<AdminReplays.Replay>, client: AdminClient) async throws
    -> AdminAnswer<AdminReplays.Replay>
  {
    var replay = started
    var line = ProgressLine(DoubloonCommandLine.output)
    var pause = Duration.milliseconds(20)
    while replay.value.state == .running {
      line.show(ReplayText.progress(replay.value))
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(500))
      replay = try await client.call(AdminReplays.show, at: [String(replay.value.id)], namespace: server.namespace)
    }
    line.clear()
    return replay
  }

  private func rebuild() async throws {
    let order = AdminReplays.RebuildOrder(into: into, reason: reason, rerun: rerun ? true : nil)
    let answer = try await server.withClient { client in
      try await client.call(AdminReplays.rebuild, body: order, namespace: server.namespace, timeout: Self.longTimeout)
    }
    output.print(answer, ReplayText.rebuild)
    if !answer.value.equal { throw ExitCode(1) }
  }
}

/// What is to be replayed.
struct ReplaySelection: ParsableArguments {
  /// The modes, of which one is chosen.
  enum Mode: String, EnumerableFlag {
    case failed, gaps, all, rebuild

    static func help(for value: Mode) -> ArgumentHelp? {
      switch value {
      case .failed: "Dead letters, and what waits for a retry. (default)"
      case .gaps:
        "Events that a function has never had: it was deployed later, or its filter was another, or (with --suppressed) the write told it to sleep."
      case .all: "Everything; what was handled before is only counted. (default with --event)"
      case .rebuild: "Rebuild the store from its recorded commits, and compare."
      }
    }
  }

  @Flag
  var mode: Mode?

  @Option(help: ArgumentHelp("Only this event.", valueName: "id"))
  var event: String?

  @Option(help: ArgumentHelp("Only this function.", valueName: "name"))
  var function: String?

  @OptionGroup
  var span: TimeSpan

  @Option(help: ArgumentHelp("Only events about this user: with this key in the path.", valueName: "uid"))
  var uid: String?

  @Option(
    help: ArgumentHelp("Only events at this path or below, or at places of this pattern: /users/*/level.", valueName: "path"))
  var path: String?

  @Option(
    help: ArgumentHelp("Only events of writes by this actor, user:bob, or of this kind of actor, user.", valueName: "actor"))
  var writer: String?

  @Option(help: ArgumentHelp("Only failures that say this.", valueName: "text"))
  var error: String?

  @Flag(help: "Give a function also those events that another function has handled.")
  var allowHandled = false

  @Flag(help: "Take also what was imported, or written with triggers suppressed. (with --gaps, --all or --event)")
  var suppressed = false

  @Option(help: ArgumentHelp("At most so many events in a second; 0 for no limit.", valueName: "count"))
  var rate: Int64 = 1000

  mutating func validate() throws {
    if let event, EventID(event) == nil {
      throw ValidationError("\"\(event)\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    guard (0...1_000_000).contains(rate) else { throw ValidationError("--rate must be 0 to 1000000.") }
    if suppressed, mode == .failed || (mode == nil && event == nil) {
      throw ValidationError("--suppressed finds what was never given to a function: name --gaps, --all or --event, too.")
    }
    let names = [event, function, uid, path, writer, error].contains { $0 != nil }
    let narrows = names || span.since != nil || span.until != nil || allowHandled || suppressed
    if mode == .rebuild, narrows { throw ValidationError("--rebuild is about everything; leave the other options out.") }
  }

  /// The order, for the server.
  func order(reason: String) -> AdminReplays.Order {
    AdminReplays.Order(
      mode: mode?.order, reason: reason, event: event, function: function, since: span.from, until: span.through, uid: uid,
      path: path, writer: writer, error: error, suppressed: suppressed ? true : nil, allowHandled: allowHandled ? true : nil,
      rate: rate)
  }
}

extension ReplaySelection.Mode {
  /// A rebuild is no replay.
  fileprivate var order: AdminReplays.Mode? {
    switch self {
    case .failed: .failed
    case .gaps: .gaps
    case .all: .all
    case .rebuild: nil
    }
  }
}
