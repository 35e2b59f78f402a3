import ArgumentParser
import TreeModel

/// `doubloon links disable`: switches a short link off.
struct LinksDisableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Switch a short link off: it opens a page that says so.",
    discussion: """
      It counts nothing, and nobody comes by it or by its code. What was claimed by it stays. "doubloon links enable" brings \
      it back.

      Examples:
        doubloon links disable https://go.acme.test/r/aB3x
      """)

  @Argument(help: "The short link.")
  var link: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await LinksEditCommand.change(link, ["disabled": true], server)
    output.print(answer) { answer in "\(answer["link"]?["shortLink"]?.string ?? link) is disabled.".printable }
  }
}
