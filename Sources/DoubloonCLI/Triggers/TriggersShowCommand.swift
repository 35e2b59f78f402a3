import AdminClient
import ArgumentParser
import StorageCore
import TreeModel

/// `doubloon triggers show`: one event, whole.
struct TriggersShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print one event whole: the write, who, the runs, their effects.",
    discussion: """
      Examples:
        doubloon triggers show 1-42:/users/bob/level

      An id that begins with 0- is that of a run by hand (doubloon functions invoke).
      """)

  @Argument(help: "The event's id, as \"list\" prints it.")
  var event: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard EventID(event) != nil else {
      throw ValidationError("\"\(event)\" is no event's id; they look like 1-42:/users/bob/level.")
    }
  }

  func run() async throws {
    let answer = try await server.withClient { client in try await client.get(AdminPath.event(event), query: server.query) }
    output.print(answer) { EventPage(event: $0).text }
  }
}
