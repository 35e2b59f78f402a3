import AdminClient
import ArgumentParser
import NIOHTTP1

/// `doubloon rules get`: the rules that hold.
struct RulesGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the rules that hold, as they were uploaded.",
    discussion: """
      Examples:
        doubloon rules get > rules.json
      """)

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let bytes = try await server.withClient { client in
      try await client.send(.GET, AdminPath.rules, query: server.query).checked().body
    }
    DoubloonCommandLine.output.line(String(decoding: bytes, as: UTF8.self).trimmingEnd)
  }
}

extension String {
  /// Without line breaks at its end: the printer adds one.
  fileprivate var trimmingEnd: String {
    var text = self[...]
    while let last = text.last, last.isNewline { text.removeLast() }
    return String(text)
  }
}
