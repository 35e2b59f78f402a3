import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon config show`: what a running server goes by.
struct ConfigShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print the configuration that a running server goes by, defaults among it.",
    discussion: """
      Secrets are "set" or not; durations are milliseconds, sizes are bytes. The source of a setting is where it was given: \
      the configuration file (or a file that it names), a variable of the environment that the file names, the command line \
      of the server, or nowhere (default).

      Examples:
        doubloon config show
        doubloon config show --json
      """)

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  func run() async throws {
    let answer = try await server.withClient(spansNamespaces: true) { client in
      try await client.call(AdminSystem.configuration)
    }
    output.print(answer, Self.text)
  }

  static func text(_ configuration: AdminSystem.Configuration) -> String {
    var table = TextTable([.text("SETTING"), .text("VALUE"), .text("SOURCE")])
    for setting in configuration.settings {
      let value = setting.value.isNull ? "not set" : setting.value.string ?? setting.value.compactText
      table.add([setting.name, value, setting.source == .commandLine ? "command line" : setting.source.rawValue])
    }
    let files = configuration.files.isEmpty ? "" : "\n\nRead from \(configuration.files.joined(separator: ", ")).".printable
    return table.render() + files
  }
}
