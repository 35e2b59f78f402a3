import ArgumentParser
import FunctionsKit
import Logging
import ServerApp
import ServerConfiguration

/// `doubloon serve`: the server in production.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Start a server for production, as a file says.",
    discussion: """
      The file says everything: where to listen, the certificates, the rules, the administrators, mail, limits. It is JSON \
      with // comments; Examples/doubloon.jsonc explains every setting. Secrets do not stand in it, but in files or \
      variables that it names.

      What development allows is refused here: without a token nobody is an administrator, the security rules decide who \
      reads and writes, namespaces are those of the file, and the clock cannot be moved.

      It runs until SIGTERM or Ctrl-C, answers what it has taken on, and ends. SIGHUP reads the certificates again. Exit \
      codes: 0 it was told to end, 1 it cannot run, 2 the configuration is faulty (starting again would not help).

      Examples:
        doubloon config check /etc/doubloon/doubloon.jsonc
        doubloon serve --config /etc/doubloon/doubloon.jsonc
      """)

  @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
  var config: String

  func run() async throws {
    let file: ServeConfiguration
    do {
      file = try ServeConfiguration.load(config, surroundings: .deployment)
    } catch {
      throw CommandFailure(error.message, exitCode: 2)
    }
    let configuration = file.serverConfiguration
    let functions = Functions(settings: configuration.functionSettings)
    DoubloonCommandLine.functions(functions)
    let notice = ServingNotice(configuration: configuration, functions: functions.definitions)
    let logger = Self.logger
    for warning in file.warnings { logger.warning("\(warning)") }
    do {
      let application = try Application(
        configuration: configuration, logger: logger, functions: DoubloonCommandLine.functions.register)
      try await application.run { port in
        for line in notice.lines(port: port) { logger.notice("\(line)") }
      }
      logger.notice("Stopped.")
    } catch {
      throw CommandFailure("The server cannot run: \(error)")
    }
  }

  /// Lines of the log go to the standard error, where systemd and containers expect them.
  private static var logger: Logger {
    var logger = Logger(label: "doubloon", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = .notice
    return logger
  }
}
