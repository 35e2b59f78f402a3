import AdminClient
import ArgumentParser
import TreeModel

/// `doubloon data update`: changes several places at once.
struct DataUpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change several places below a path, all or nothing.",
    discussion: """
      Takes an object whose names are paths below PATH; null removes. What is not named stays.

      Examples:
        doubloon data update /users/bob '{"level":5,"guild/name":"Sea Dogs","draft":null}'
      """)

  @Argument(help: "The place in the tree.", transform: TreeLocation.init(argument:))
  var path: TreeLocation

  @Argument(help: "A JSON object; or - for the standard input; or a file.")
  var value: String

  @OptionGroup
  var write: DataWriteOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let json = try JSONInput.value(value)
    guard let members = json.object else {
      throw ValidationError("An update takes an object, such as '{\"level\":5}'; to replace a value use \"doubloon data set\".")
    }
    let answer = try await server.withClient { client in
      try await client.patch(path.urlPath, json, query: server.query + write.query)
    }
    write.report(answer, "Updated \(members.count.counted("place", "places")) below \(path.text).")
  }
}
