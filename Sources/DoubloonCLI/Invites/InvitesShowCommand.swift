import AdminClient
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon invites show`: how far an invitation came.
struct InvitesShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show how far an invitation came.",
    discussion: """
      Examples:
        doubloon invites show 7Jd2kQ0aB3xY
      """)

  @Argument(help: "The invitation's id.")
  var id: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let path = "/v1/invites/\(PercentEncoding.segment(id))"
    let answer = try await server.withClient { client in try await client.get(path, query: server.query) }
    output.print(answer, Self.text)
  }

  static func text(_ answer: JSON) -> String {
    var lines = ["\(answer["id"]?.string ?? "?") is \(answer["state"]?.string ?? "?")"]
    lines.append(
      "from \(answer["sender"]?.string ?? "?") by \(answer["channel"]?.string ?? "?"), \(answer["createdAt"]?.timeText ?? "-")")
    if let to = answer["to"]?.string { lines.append("to \(to)") }
    lines.append("link \(answer["link"]?.string ?? "-")")
    for key in ["openedAt", "clickedAt", "convertedAt"] {
      if let time = answer[key]?.timeText { lines.append("\(key.dropLast(2)) \(time)") }
    }
    if let error = answer["lastError"]?.string { lines.append("last error: \(error)") }
    return lines.map(\.printable).joined(separator: "\n")
  }
}
