import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

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
