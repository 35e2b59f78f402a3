import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon rules history`: the versions of the rules.
struct RulesHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "List the versions of the rules, newest first: when, who, why.",
    discussion: """
      The last 100 are kept. "get VERSION" prints one of them, "rollback" puts it once more.

      Examples:
        doubloon rules history
        doubloon rules get 3 > rules.json
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient { client in
      try await client.call(AdminRules.history, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  static func text(_ history: AdminRules.History) -> String {
    var table = TextTable([
      .number("VERSION"), .text("SINCE"), .text("BY"), .text("HOW"), .number("BYTES"), .text("HASH"), .text("REASON"),
    ])
    for version in history.versions {
      let how = version.restores.map { "\(version.way.rawValue) of \($0)" } ?? version.way.rawValue
      table.add([
        "\(version.version)\(version.current ? "*" : "")", version.time.text, version.actor ?? "", how, "\(version.bytes)",
        String(version.hash.prefix(12)), version.reason ?? "",
      ])
    }
    return table.isEmpty ? "There are no rules yet. \"doubloon rules put\" puts some." : table.render()
  }
}

/// `doubloon rules rollback`: an earlier version once more.
struct RulesRollbackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Put an earlier version of the rules once more, as a new version.",
    discussion: """
      Nothing is lost by it: what holds until then stays in the history, too.

      Examples:
        doubloon rules rollback 3 --reason 'players could not sign up'
      """)

  @Argument(help: "The version's number, or its hash; \"doubloon rules history\" lists both.")
  var version: String

  @Option(help: "Why, for the record.")
  var reason: String

  @Option(help: ArgumentHelp("Refuse if the rules that hold have another hash by then.", valueName: "hash"))
  var ifHash: String?

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let order = AdminRules.RollbackOrder(version: version, ifHash: ifHash, reason: reason)
    let answer = try await server.withClient { client in
      try await client.call(AdminRules.rollback, body: order, namespace: server.namespace)
    }
    output.print(answer) { put in
      put.changed
        ? "The rules of version \(version.printable) hold now, as version \(put.version)."
        : "They hold already, as version \(put.version)."
    }
  }
}
