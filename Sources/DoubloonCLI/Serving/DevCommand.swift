import APISupport
import ArgumentParser
import FunctionsKit
import Logging
import ServerApp
import ServerConfiguration
import StorageCore
import TreeModel

/// `doubloon dev`: the server for development and tests.
struct DevCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dev",
    abstract: "Start a server for development on this machine.",
    discussion: """
      Serves the tree, the functions and the ledger on one port, with the conventions of Firebase's emulators: \
      "Authorization: Bearer owner" is the administrator, and namespaces appear on first use. It listens on this machine \
      only; on another --host, "owner" is replaced by a random token, which is printed. Web pages of other sites than this \
      machine's cannot use "owner". It runs until Ctrl-C.

      Settings of functions are overridden by a JSON file: {"rewardReferrals": {"amount": 60}}.

      Examples:
        doubloon dev
        doubloon dev --in-memory --port 0
        doubloon dev --data ~/game --project my-game --functions-config settings.json
        doubloon dev --rules rules.json --messages messages.json
      """)

  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; 0 takes any free one.")
  var port = 9000

  @Option(help: ArgumentHelp("The folder that the data are kept in. (default: .doubloon)", valueName: "dir"))
  var data: String?

  @Flag(help: "Keep the data in a temporary folder that is removed at the end.")
  var inMemory = false

  @Option(
    help: ArgumentHelp(
      "Keep the store in this PostgreSQL, and a working copy of it in --data; several servers may share one.", valueName: "url")
  )
  var postgres: String?

  @Option(help: ArgumentHelp("The store's schema in PostgreSQL.", valueName: "name"))
  var postgresSchema = "doubloon"

  @Option(
    help: ArgumentHelp(
      "With --postgres: a port at which this server answers reads of the tree itself, also while another one leads.",
      valueName: "port"))
  var staleReads: Int?

  @Option(help: ArgumentHelp("The project; requests without a namespace mean PROJECT-default-rtdb.", valueName: "id"))
  var project = "demo"

  @Option(help: ArgumentHelp("A JSON file with settings of functions, by function and setting.", valueName: "file"))
  var functionsConfig: String?

  @Flag(help: "Replace \"owner\" by a random admin token here too, and print it.")
  var token = false

  @Option(
    help: ArgumentHelp(
      "A host name that this server may be administered by, beside localhost, addresses and private names; may be repeated.",
      valueName: "name"))
  var allowHost: [String] = []

  @Option(
    help: ArgumentHelp("Security rules. (default: those that the data have; without any the tree is open)", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp(
      "Campaigns of in-app messages, applied at the start and whenever the file changes; what is wrong with it is logged.",
      valueName: "file"))
  var messages: String?

  @Option(
    help: ArgumentHelp(
      "A folder with the console's files, read at each request; for work on the console itself.", valueName: "dir"))
  var console: String?

  @Option(help: ArgumentHelp("What the log looks like: text or json, one object on a line.", valueName: "format"))
  var logFormat = LogSettings.Format.text

  mutating func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
    if let staleReads {
      guard (1...65_535).contains(staleReads), staleReads != port else {
        throw ValidationError("--stale-reads must be between 1 and 65535, and another port than --port.")
      }
      guard postgres != nil else {
        throw ValidationError("--stale-reads needs --postgres: without it every read shows what is newest.")
      }
    }
    guard ClusterSettings.isSchema(postgresSchema) else {
      throw ValidationError("--postgres-schema must be 1 to 40 lower-case letters, digits and underscores.")
    }
    if inMemory, postgres != nil {
      throw ValidationError("--postgres keeps its working copy in a folder: leave --in-memory out.")
    }
    if inMemory, data != nil { throw ValidationError("--data and --in-memory exclude each other.") }
    for name in allowHost where name.isEmpty || name.contains(where: { ":/ ".contains($0) }) {
      throw ValidationError("--allow-host takes a name without scheme and port, such as game.studio.example.")
    }
    // The namespace's name is made of it, and must be the label of a host.
    let isName = project.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == 45 }
    guard isName, (1...48).contains(project.utf8.count) else {
      throw ValidationError("--project must be 1 to 48 letters, digits and hyphens.")
    }
  }

  func run() async throws {
    let configuration = try makeConfiguration()
    var notice = StartNotice(configuration: configuration, functions: try definitions(configuration))
    // A program that was just built is on no path.
    if let name = CommandLine.arguments.first, name.contains("/"), !name.contains(" ") { notice.program = name }
    let lines = notice
    do {
      let terms = ServerTerms(configuration: configuration, logger: logger, functions: DoubloonCommandLine.functions.register)
      let output = DoubloonCommandLine.output
      try await terms.run { port in output.line(lines.text(port: port)) }
    } catch let error as CommandError {
      throw error
    } catch {
      throw CommandError(starting: error)
    }
  }

  /// What the options amount to.
  func makeConfiguration() throws -> ServerConfiguration {
    var configuration = ServerConfiguration(storage: inMemory ? .memory : .directory(FileBytes.absolute(data ?? ".doubloon")))
    configuration.host = host
    configuration.port = port
    configuration.project = project
    configuration.schema = DoubloonCommandLine.schema
    configuration.build = ProgramVersion.build
    // It runs with the machine's, and can be moved: /admin/v1/clock.
    configuration.clock = AdjustableClock()
    if token || !configuration.isLoopback { configuration.adminToken = RandomToken.make() }
    configuration.allowedHosts = allowHost
    configuration.cluster = postgres.map(cluster)
    configuration.console.folder = console.map { FileBytes.absolute($0) }
    if let rules {
      configuration.rules = try RulesFile(rules)
      configuration.namespaces = [configuration.defaultNamespace]
    }
    if let messages {
      let file = CampaignFile(messages)
      guard !file.stamp.isEmpty else { throw CommandError("\(messages) is not there; --messages names a file of campaigns.") }
      configuration.campaignFile = file
    }
    if let functionsConfig { configuration.functionSettings = try Self.settings(functionsConfig) }
    configuration.sources = sources(beside: ServerConfiguration(storage: configuration.storage))
    return configuration
  }

  /// A store in any PostgreSQL, be it safe or not.
  private func cluster(_ url: String) -> ClusterSettings {
    var settings = ClusterSettings(url: url)
    settings.schema = postgresSchema
    settings.allowsSingle = true
    if port != 0 { settings.address = PortAddress(host: host, port: port).description }
    settings.staleReads = staleReads.map { PortAddress(host: host, port: $0) }
    return settings
  }

  /// Which settings the command line gives; an option that repeats the default counts as the default.
  private func sources(beside standard: ServerConfiguration) -> [String: ServerConfiguration.Setting.Source] {
    let given = [
      "mode": true, "data": data != nil || inMemory, "project": project != standard.project, "rules": rules != nil,
      "namespaces": rules != nil, "functions": functionsConfig != nil, "listen.host": host != standard.host,
      "listen.port": port != standard.port,
    ]
    return given.filter(\.value).mapValues { _ in .commandLine }
  }

  /// Reads the overrides of settings.
  private static func settings(_ file: String) throws -> TreeNode {
    let json = try JSONInput.parse(try FileBytes.read(file), from: file)
    guard let members = json.object, members.allSatisfy({ $0.value.object != nil }) else {
      throw CommandError("\(file) must hold an object of objects: {\"function\": {\"setting\": value}}.")
    }
    do {
      return try TreeNode(json: json)
    } catch {
      throw CommandError("\(file): \(error)")
    }
  }

  /// The functions with their settings; what is wrong with those is said here, for the engine stops the program for it.
  private func definitions(_ configuration: ServerConfiguration) throws -> [FunctionDefinition] {
    let functions = Functions(checking: configuration.functionSettings)
    DoubloonCommandLine.functions(functions)
    let known = Set(functions.definitions.map(\.name))
    for entry in configuration.functionSettings.children where !known.contains(entry.key.text) {
      throw CommandError(
        "\(functionsConfig ?? "The configuration") has settings of \"\(entry.key)\", but no function has that name; "
          + "there are \(known.sorted().joined(separator: ", ")).")
    }
    guard functions.mistakes.isEmpty else { throw CommandError(functions.mistakes.joined(separator: "\n")) }
    guard functions.settingErrors.isEmpty else {
      let file = functionsConfig ?? "The configuration"
      throw CommandError(functions.settingErrors.map { "\(file): \($0.message)" }.joined(separator: "\n"))
    }
    return functions.definitions
  }

  /// What is worth a person's look goes to the standard error; where everything is, the notice says.
  private var logger: Logger { .standardError(LogSettings(format: logFormat)) }
}

extension LogSettings.Format: ExpressibleByArgument {}
