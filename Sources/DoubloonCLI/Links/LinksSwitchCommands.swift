import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links disable`: switches a short link off.
struct LinksDisableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Switch a short link off: it opens a page that says so.",
    discussion: """
      It counts nothing, and nobody comes by it or by its code. What was claimed by it stays. The long link that says exactly \
      the same is off with it, unless the link is a player's own. "doubloon links enable" brings both back.

      Examples:
        doubloon links disable https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkChoice

  func run() async throws {
    let answer = try await choice.change(["disabled": true])
    choice.output.print(answer) { "\($0["link"]?["shortLink"]?.string ?? choice.link) is disabled.".printable }
  }
}

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

  @OptionGroup
  var choice: LinkChoice

  func run() async throws {
    let answer = try await choice.change(["disabled": false])
    choice.output.print(answer) { "\($0["link"]?["shortLink"]?.string ?? choice.link) is enabled.".printable }
  }
}
