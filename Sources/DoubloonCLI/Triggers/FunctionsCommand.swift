import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import StorageCore
import TreeModel

/// `doubloon functions`: what runs, and what is held up.
struct FunctionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "functions",
    abstract: "The functions of this deployment: list, show, pause, resume, retry, invoke.",
    discussion: """
      Examples:
        doubloon functions list
        doubloon functions show rewardReferrals
        doubloon functions pause rewardReferrals --reason "pays too much"
        doubloon functions resume rewardReferrals
        doubloon functions retry rewardReferrals
      """,
    subcommands: [
      FunctionsListCommand.self, FunctionsShowCommand.self, FunctionsPauseCommand.self, FunctionsResumeCommand.self,
      FunctionsRetryCommand.self,
      FunctionsInvokeCommand.self,
    ])
}

/// `doubloon functions list`: the registered functions and those that the store remembers.
struct FunctionsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the functions, and whether they run.",
    discussion: """
      LATELY is how many runs there were in the window, and how many of them failed; P95 US is what 95 of 100 of these took at \
      most, and MEAN US the mean time of the last runs, in microseconds; INLINE says whether the function runs on the writer now, right \
      after its event was judged, as short functions do. Below the table stand the settings of functions with the values that \
      hold now, what functions gave up on (dead letters), \
      and what they failed on and try again, with the last event and why.

      Examples:
        doubloon functions list
        doubloon functions list --window 1h
      """)

  @Option(help: ArgumentHelp("How far back runs are counted: 1h, 6h or 24h.", valueName: "time"))
  var window = AdminFunctions.Window.day

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(
        AdminFunctions.list, query: AdminFunctions.WindowQuery(window: window), namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ list: AdminFunctions.List) -> String {
    var table = TextTable([
      .text("FUNCTION"), .text("STATE"), .text("RUNS"), .number("DEAD"), .text("LATELY"), .number("P95 US"), .number("MEAN US"),
      .text("INLINE"), .text("PATTERN"),
      .text("PAUSED BECAUSE"),
    ])
    var failures: [String] = []
    var settings: [String] = []
    for function in list.functions {
      table.add([
        function.name, function.paused ? "paused" : "running", function.kinds, "\(function.deadLetters?.count ?? 0)",
        function.recent.map(lately) ?? "", function.recent?.p95Nanoseconds.map { "\($0 / 1000)" } ?? "",
        function.pace?.meanNanoseconds.map { "\($0 / 1000)" } ?? "", function.pace.map(inline) ?? "", function.pattern,
        function.pauseReason ?? "",
      ])
      if let values = function.settings?.object {
        settings.append("\(function.name): \(values.map { "\($0.key) \($0.value.plainText)" }.joined(separator: ", "))")
      }
      for (found, words) in [(function.deadLetters, "gave up on"), (function.retries, "failed on, and tries again,")] {
        guard let found else { continue }
        failures.append(
          "\(function.name) \(words) \(found.count.counted("event", many: "events")), the last \(found.event): \(found.error)")
      }
    }
    guard !table.isEmpty else { return "There are no functions." }
    return table.render()
      + [settings, failures].filter { !$0.isEmpty }.map { "\n\n" + $0.joined(separator: "\n").printable }.joined()
  }

  /// How many runs there were in the window, and how many failed.
  private static func lately(_ recent: AdminFunctions.Recent) -> String {
    let failed = recent.outcomes.members.first { $0.name == "failed" }?.value ?? 0
    return failed == 0 ? recent.runs.grouped : "\(recent.runs.grouped), \(failed.grouped) failed"
  }

  /// Whether it runs on the writer now, and how many of its runs did.
  private static func inline(_ pace: AdminFunctions.Pace) -> String {
    pace.inlineRuns == 0
      ? (pace.inline ? "yes" : "no") : "\(pace.inline ? "yes" : "no"), \(pace.inlineRuns.counted("run", many: "runs"))"
  }
}

/// `doubloon functions pause`: gives a function no events until further notice.
struct FunctionsPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Give a function no more events; they wait.",
    discussion: """
      A run that is going on is finished. Nothing is lost: "doubloon functions resume" goes on with what waited.

      Examples:
        doubloon functions pause rewardReferrals --reason "pays too much"
      """)

  @Argument(help: "The function's name.")
  var name: String

  @Option(help: ArgumentHelp("Why; shown in the list.", valueName: "text"))
  var reason: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(
        AdminFunctions.pause, at: [name], body: AdminFunctions.PauseOrder(reason: reason), namespace: server.namespace)
    }
    output.print(answer) { _ in "\(name.printable) is paused; its events wait." }
  }
}

/// `doubloon functions resume`: goes on with the events that waited.
struct FunctionsResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on with a paused function and the events that waited.",
    discussion: """
      Examples:
        doubloon functions resume rewardReferrals
      """)

  @Argument(help: "The function's name.")
  var name: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(
        AdminFunctions.resume, at: [name], namespace: server.namespace, timeout: ReplayStartCommand.longTimeout)
    }
    output.print(answer) { _ in "\(name.printable) goes on." }
  }
}

/// `doubloon functions retry`: gives a function its dead letters once more.
struct FunctionsRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Give a function its dead letters once more.",
    discussion: """
      For when the cause is removed; those of one namespace. What a function did already is not done twice.

      Examples:
        doubloon functions retry rewardReferrals
      """)

  @Argument(help: "The function's name.")
  var name: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(AdminFunctions.retry, at: [name], namespace: server.namespace)
    }
    output.print(answer) {
      "\($0.retried.counted("dead letter", many: "dead letters")) of \(name.printable) will be tried again."
    }
  }
}

/// `doubloon functions invoke`: runs a function by hand.
struct FunctionsInvokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invoke",
    abstract: "Run a function by hand, on a change that never happened.",
    discussion: """
      The function sees the change that you describe and the tree as it is now; what it pays and writes is committed, \
      once, under an id of its own. A key that was paid before pays nothing.

      Examples:
        doubloon functions invoke rewardReferrals --path /users/bob/level --before 4 --after 5 --as user:bob \\
          --reason "ticket 512"
      """)

  @Argument(help: "The function's name.")
  var name: String

  @Option(
    help: ArgumentHelp("Where the change is to have happened.", valueName: "path"), transform: PathArgument.init(argument:))
  var path: PathArgument

  @Option(help: ArgumentHelp("What stood there; left out for a creation.", valueName: "json"))
  var before: String?

  @Option(help: ArgumentHelp("What stands there now; left out for a deletion.", valueName: "json"))
  var after: String?

  @Option(
    name: .customLong("as"), help: ArgumentHelp("Who is to have written: user:bob, anonymous, admin:NAME.", valueName: "actor"))
  var actingAs: String?

  @Option(help: ArgumentHelp("Why; kept with the invocation.", valueName: "text"))
  var reason: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard before != nil || after != nil else { throw ValidationError("Give --before, --after, or both.") }
    guard !reason.isEmpty else { throw ValidationError("--reason must say why.") }
    if let actingAs, Actor(actingAs) == nil {
      throw ValidationError("--as must be an actor: user:bob, anonymous or admin:NAME.")
    }
  }

  func run() async throws {
    let order = AdminFunctions.InvocationOrder(
      path: path.text, before: try before.map(JSONInput.value), after: try after.map(JSONInput.value), actingAs: actingAs,
      reason: reason)
    let answer = try await server.withClient { client in
      try await client.call(AdminFunctions.invoke, at: [name], body: order, namespace: server.namespace)
    }
    output.print(answer) { result in
      let reason = result.reason.map { ": \($0)" } ?? ""
      return "\(name) for \(result.event): \(result.outcome)\(reason)".printable
    }
    if answer.value.outcome == "failed" { throw ExitCode(1) }
  }
}
