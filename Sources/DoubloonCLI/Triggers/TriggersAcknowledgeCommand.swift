import AdminClient
import ArgumentParser
import StorageCore
import TreeModel

/// `doubloon triggers acknowledge`: closes dead letters.
struct TriggersAcknowledgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge",
    abstract: "Close dead letters that shall never run.",
    discussion: """
      They stay in the log, as skipped by a person, with your reason. To run them instead: "doubloon replay --failed".

      Examples:
        doubloon triggers acknowledge --event 1-42:/users/bob/level --reason "paid by hand, ticket 512"
        doubloon triggers acknowledge --function welcomeMail --reason "the campaign is over"
      """)

  @Option(help: ArgumentHelp("The dead letters of this event.", valueName: "id"))
  var event: String?

  @Option(help: ArgumentHelp("The dead letters of this function.", valueName: "name"))
  var function: String?

  @Option(help: ArgumentHelp("Why; kept with the event.", valueName: "text"))
  var reason: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    guard event != nil || function != nil else { throw ValidationError("Name --event, --function, or both.") }
    if let event, EventID(event) == nil {
      throw ValidationError("\"\(event)\" is no event's id; they look like 1-42:/users/bob/level.")
    }
    guard !reason.isEmpty else { throw ValidationError("--reason must say why.") }
  }

  func run() async throws {
    var members: [JSON.Member] = [.init(key: "reason", value: .string(reason))]
    if let event { members.append(.init(key: "event", value: .string(event))) }
    if let function { members.append(.init(key: "function", value: .string(function))) }
    let body = JSON.object(members)
    let answer = try await server.withClient { client in
      try await client.post(AdminPath.acknowledge, body, query: server.query)
    }
    output.print(answer) { answer in
      "\((answer["acknowledged"]?.int ?? 0).counted("dead letter was", "dead letters were")) closed."
    }
  }
}
