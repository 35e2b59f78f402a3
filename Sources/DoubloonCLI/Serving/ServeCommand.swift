import APISupport
import AdminClient
import ArgumentParser
import Backups
import Credentials
import FunctionsKit
import Logging
import Mail
import ServerApp
import ServerConfiguration
import TreeModel

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
      codes: 0 it was told to end, 1 it cannot run, 2 the configuration is faulty, or a newer version wrote the data \
      (starting again would not help).

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
      throw CommandError(error.message, exitCode: 2)
    }
    var configuration = file.serverConfiguration
    configuration.schema = DoubloonCommandLine.schema
    configuration.build = ProgramVersion.build
    let functions = Functions(settings: configuration.functionSettings)
    DoubloonCommandLine.functions(functions)
    let notice = ServingNotice(configuration: configuration, functions: functions.definitions)
    let logger = Logger.standardError(file.log)
    for warning in file.warnings { logger.warning("\(warning)") }
    do {
      let terms = ServerTerms(configuration: configuration, logger: logger, functions: DoubloonCommandLine.functions.register)
      try await terms.run { port in
        for line in notice.lines(port: port) { logger.notice("\(line)") }
      }
      logger.notice("Stopped.")
    } catch {
      throw CommandError(starting: error)
    }
  }
}

/// What a server in production says once it listens, a line of the log for each thing.
struct ServingNotice {
  let configuration: ServerConfiguration
  let functions: [FunctionDefinition]

  /// - Parameter port: the one that was bound.
  func lines(port: Int) -> [String] {
    let isTLS = !configuration.certificates.isEmpty
    let address = ServerAddress(host: configuration.host, port: port, isTLS: isTLS)
    var lines = ["Serving \(address)" + (isTLS || configuration.isLoopback ? "." : ", behind a proxy.")]
    if case .directory(let folder) = configuration.storage {
      lines.append(configuration.cluster == nil ? "Data: \(folder)." : "Data: in PostgreSQL; working copy: \(folder).")
    }
    if let metrics = configuration.metricsAddress {
      lines.append("Metrics: \(ServerAddress(host: metrics.host, port: metrics.port))/metrics, without a key.")
    }
    lines.append("Namespaces: \(configuration.namespaces.joined(separator: ", ")).")
    if let rules = configuration.rules { lines.append("Security rules: \(rules.path).") }
    for files in configuration.certificates { lines.append("Certificate: \(files.certificate).") }
    let admins = configuration.admins.map(\.name)
    lines.append(
      admins.isEmpty ? "Administrators' tokens: none." : "Administrators' tokens: \(admins.joined(separator: ", ")).")
    lines.append(functions.isEmpty ? "Functions: none." : "Functions: \(functions.map(words).joined(separator: "; ")).")
    if let mail = configuration.mail {
      lines.append("Mail: by \(mail.server.host):\(mail.server.port), from \(mail.from).")
    } else {
      lines.append("Mail: none is sent, for the configuration has no \"mail\".")
    }
    if let backups = configuration.backups { lines.append("Backups: \(backups.words).") }
    if let alerts = configuration.alerts {
      let ways = (alerts.webhook.map { ["the webhook at \($0)"] } ?? []) + alerts.mail.map(\.address)
      lines.append("Alerts: to \(ways.joined(separator: ", ")).")
    }
    if !configuration.issuers.isEmpty {
      lines.append("Issuers of tokens: \(configuration.issuers.map(words).joined(separator: ", ")).")
    }
    lines.append(configuration.requestLimits == nil ? "Rate limits: off." : "Rate limits: on.")
    return lines
  }

  private func words(_ issuer: TrustedIssuer) -> String {
    issuer.provider.id + (issuer.use == .signIn ? "" : " (its tokens open the database)")
  }

  private func words(_ function: FunctionDefinition) -> String {
    let settings = function.settings.exists ? " " + String(decoding: function.settings.json(), as: UTF8.self) : ""
    return "\(function.name)\(settings)"
  }
}

/// `doubloon config …`: the file of `doubloon serve`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Look at the configuration of \"doubloon serve\".",
    subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self])
}

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

      With --user it is also said what that user cannot read or write: for a service that runs as a user of its own, asked \
      by root before it is started. A user that systemd makes up (DynamicUser=yes) is any number that nobody has.

      Examples:
        doubloon config check doubloon.jsonc
        doubloon config check doubloon.jsonc --json
        doubloon config check /etc/doubloon/doubloon.jsonc --user doubloon
      """)

  @Argument(help: ArgumentHelp("The configuration file.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("Say what this user cannot read or write.", valueName: "name|number"))
  var user: String?

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    let configuration: ServeConfiguration
    do {
      configuration = try ServeConfiguration.load(file, surroundings: .deployment)
    } catch {
      throw CommandError(error.message, exitCode: 2)
    }
    if let user {
      let obstacles = configuration.obstacles(for: try SystemUser(user), file: file)
      if !obstacles.isEmpty { throw CommandError(obstacles.joined(separator: "\n"), exitCode: 2) }
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

extension ConfigurationEnvironment {
  /// The process's own, with the functions that the command line was started with.
  static var deployment: ConfigurationEnvironment {
    var surroundings = process
    surroundings.functions = DoubloonCommandLine.functions.register
    return surroundings
  }
}
