import ArgumentParser
import ServerConfiguration
import TreeModel

/// `doubloon config check`: whether a server would start with a file.
struct ConfigCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Say what is wrong with a configuration file, all of it at once.",
    discussion: """
      Reads the file and everything that it names, as "doubloon serve" does: secrets, security rules, certificates and \
      their keys, templates of mails. Nothing is started, and no secret is shown. Every fault stands on a line of its own \
      as FILE:LINE:COLUMN: what is wrong. A secret in a file that every user of the machine may read is a warning. Exit codes: 0 all is \
      well, 2 there are faults, as "doubloon serve" would end: a supervisor need not try again.

      Examples:
        doubloon config check doubloon.jsonc
        doubloon config check doubloon.jsonc --json
      """)

  @Argument(help: ArgumentHelp("The configuration file.", valueName: "file"))
  var file: String

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let configuration: ServeConfiguration
    do {
      configuration = try ServeConfiguration.load(file, surroundings: .deployment)
    } catch {
      throw CommandFailure(error.message, exitCode: 2)
    }
    let server = configuration.serverConfiguration
    let lines = ServingNotice(configuration: server, functions: []).lines(port: server.port)
    output.print([
      "status": "ok", "project": .string(configuration.project),
      "namespaces": .array(configuration.namespaces.map { .string($0) }),
      "warnings": .array(configuration.warnings.map { .string($0) }),
    ]) { _ in
      configuration.warnings.map { "Warning: \($0)\n" }.joined() + "\(file) is well.\n"
        + lines.filter { !$0.hasPrefix("Functions") }.map { "  \($0)" }.joined(separator: "\n")
    }
  }
}
