import AdminClient
import ArgumentParser
import ServerApp
import StorageCore
import TreeModel

/// `doubloon functions`: what runs, and what is held up.
struct FunctionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "functions",
    abstract: "The functions of this deployment: list, pause, resume, retry, invoke.",
    discussion: """
      Examples:
        doubloon functions list
        doubloon functions pause rewardReferrals --reason "pays too much"
        doubloon functions resume rewardReferrals
        doubloon functions retry rewardReferrals
      """,
    subcommands: [
      FunctionsListCommand.self, FunctionsPauseCommand.self, FunctionsResumeCommand.self, FunctionsRetryCommand.self,
      FunctionsInvokeCommand.self,
    ])
}

/// `doubloon functions list`: the registered functions and those that the store remembers.
struct FunctionsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the functions, and whether they run.",
    discussion: """
      Below the table stand the settings of functions with the values that hold now, what functions gave up on (dead letters), \
      and what they failed on and try again, with the last event and why.

      Examples:
        doubloon functions list
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.get(AdminPath.functions, query: server.query)
    }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var table = TextTable([
      .text("FUNCTION"), .text("STATE"), .text("RUNS"), .number("DEAD"), .text("PATTERN"), .text("PAUSED BECAUSE"),
    ])
    var troubles: [String] = []
    var settings: [String] = []
    for function in answer.listed("functions") {
      table.add([
        function["name"]?.string ?? "?", function["paused"]?.bool == true ? "paused" : "running",
        function["kinds"]?.string ?? "-", "\(function["deadLetters"]?["count"]?.int ?? 0)", function["pattern"]?.string ?? "-",
        function["pauseReason"]?.string ?? "",
      ])
      if let values = function["settings"]?.object {
        let list = values.map { "\($0.key) \($0.value.plainText)" }.joined(separator: ", ")
        settings.append("\(function["name"]?.string ?? "?"): \(list)")
      }
      for (member, words) in [("deadLetters", "gave up on"), ("retries", "failed on, and tries again,")] {
        guard let pile = function[member] else { continue }
        troubles.append(
          "\(function["name"]?.string ?? "?") \(words) \((pile["count"]?.int ?? 0).counted("event", "events")), the last "
            + "\(pile["event"]?.string ?? "?"): \(pile["error"]?.string ?? "")")
      }
    }
    guard !table.isEmpty else { return "There are no functions." }
    return table.render()
      + [settings, troubles].filter { !$0.isEmpty }.map { "\n\n" + $0.joined(separator: "\n").printable }.joined()
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
      try await client.post(AdminPath.function(name, "pause"), ["reason": .string(reason)], query: server.query)
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
      try await client.post(AdminPath.function(name, "resume"), query: server.query, timeout: ReplayStartCommand.longTimeout)
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
      try await client.post(AdminPath.function(name, "retry"), query: server.query)
    }
    output.print(answer) { answer in
      let count = answer["retried"]?.int ?? 0
      return "\(count.counted("dead letter", "dead letters")) of \(name.printable) will be tried again."
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
    var members: [JSON.Member] = [
      .init(key: "path", value: .string(path.text)), .init(key: "reason", value: .string(reason)),
      .init(key: "before", value: try before.map(JSONInput.value) ?? .null),
      .init(key: "after", value: try after.map(JSONInput.value) ?? .null),
    ]
    if let actingAs { members.append(.init(key: "as", value: .string(actingAs))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.function(name, "invoke"), body, query: server.query)
    }
    output.print(answer) { answer in
      let reason = answer["reason"]?.string.map { ": \($0)" } ?? ""
      return "\(name) for \(answer["event"]?.string ?? "?"): \(answer["outcome"]?.string ?? "?")\(reason)".printable
    }
    if answer["outcome"]?.string == "failed" { throw ExitCode(1) }
  }
}
