import ArgumentParser
import TreeModel

/// `doubloon functions list`: the registered functions and those that the store remembers.
struct FunctionsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the functions, and whether they run.",
    discussion: """
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
    var table = TextTable([.text("FUNCTION"), .text("STATE"), .text("RUNS"), .text("PATTERN"), .text("PAUSED BECAUSE")])
    for function in answer.listed("functions") {
      table.add([
        function["name"]?.string ?? "?", function["paused"]?.bool == true ? "paused" : "running",
        function["kinds"]?.string ?? "-", function["pattern"]?.string ?? "-", function["pauseReason"]?.string ?? "",
      ])
    }
    return table.isEmpty ? "There are no functions." : table.render()
  }
}
