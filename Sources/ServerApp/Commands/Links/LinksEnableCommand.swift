import ArgumentParser
import TreeModel

/// `doubloon links enable`: switches a short link on again.
struct LinksEnableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Switch a disabled link on again.",
    discussion: """
      It opens what it opened before.

      Examples:
        doubloon links enable https://go.acme.test/r/aB3x
      """)

  @Argument(help: "The short link.")
  var link: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await LinksEditCommand.change(link, ["disabled": false], server)
    output.print(answer) { answer in "\(answer["link"]?["shortLink"]?.string ?? link) is enabled.".printable }
  }
}
