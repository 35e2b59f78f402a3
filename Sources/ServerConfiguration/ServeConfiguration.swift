import APISupport
import Accounts
package import AccessRules
import HTTPServer
import Ledger
import Links
import MailContent
import Messages
import NIOCore
import StorageCore
import TreeModel

/// The configuration file of `doubloon serve`, typed.
///
/// All sections of the configuration; each is a ``ConfigurationSection``.
package struct ServeConfiguration: ConfigurationSection {
  package let project: String
  package let namespaces: [String]
  /// The folder that the data are in.
  let data: String
  /// Where the store is kept if it is not the folder alone.
  let storage: StorageSection?
  /// Whether the data are copied before a new version changes them.
  let copiesBeforeUpgrade: Bool
  /// The security rules of every namespace that has none of its own yet; nil if they cannot be read.
  let rules: RulesFile?
  let listen: ListenSection
  let metrics: MetricsSection?
  let certificates: [CertificateFiles]
  let admins: [AdminToken]
  let currencies: [Currency]
  package let functions: FunctionsSection
  let limits: LimitsSection
  let rateLimits: RequestLimits?
  let mail: MailSection?
  let backups: BackupSection?
  let accounts: AccountsSection
  let console: ConsoleSection
  /// How it logs.
  package let log: LogSettings
  /// Whom it tells when something needs a person; nil: the log alone.
  let alerts: AlertSettings?
  /// What links are and where they lead; nil leaves what was set through the administrators' surface.
  let links: LinkSettings?
  /// What is set about in-app messages; nil leaves it to administrators.
  let messages: MessagesSection?
  /// Warnings about the file and those that it names, each as `FILE:LINE:COLUMN: text`.
  package var warnings: [String] = []
  /// The configuration file, and the rules that it names.
  private var files: [String] = []
  /// Where its settings were given, by their names.
  private var sources: [String: ServerConfiguration.Setting.Source] = [:]
  /// The files and folders that it names.
  var namedFiles: [NamedFile] = []

  package init(_ reader: ConfigurationReader) {
    let project = reader.required("project", example: "treasure-hunt") ?? "unnamed"
    self.project = project
    if !Self.isProject(project) {
      reader.report("project", message: "\"project\" must be 1 to 48 letters, digits and hyphens.")
    }
    namespaces = Self.namespaces(reader, project: project)
    data = reader.path(of: "data") ?? "."
    if !reader.has("data") {
      reader.report("data", message: "\"data\" is missing; it is the folder for the data, such as \"/var/lib/doubloon\".")
    }
    storage = reader.optionalSection("storage", type: StorageSection.self)
    copiesBeforeUpgrade = reader.flag("upgradeCopy") ?? true
    rules = Self.rules(reader)
    listen = reader.section("listen", type: ListenSection.self)
    metrics = reader.optionalSection("metrics", type: MetricsSection.self)
    certificates = (reader.sections("tls", type: CertificateSection.self) ?? []).compactMap(\.files)
    admins = Self.admins(reader)
    currencies = Self.currencies(reader)
    functions = reader.section("functions", type: FunctionsSection.self)
    limits = reader.section("limits", type: LimitsSection.self)
    let isUnlimited = if case .bool(false) = reader.value("rateLimits")?.content { true } else { false }
    rateLimits = isUnlimited ? nil : reader.section("rateLimits", type: RateLimitSection.self).limits
    mail = reader.optionalSection("mail", type: MailSection.self)
    backups = reader.optionalSection("backups", type: BackupSection.self)
    accounts = reader.section("accounts", type: AccountsSection.self)
    console = reader.section("console", type: ConsoleSection.self)
    links = Self.links(reader)
    messages = MessagesSection(of: reader)
    log = reader.section("log", type: LogSection.self).settings
    alerts = reader.optionalSection("alerts", type: AlertsSection.self)?.settings
    if let alerts, !alerts.mail.isEmpty, mail == nil {
      reader.report("alerts", message: "\"alerts.mail\" needs \"mail\", which says how mail is sent.")
    }
    checkReach(reader)
  }

  /// Beyond the loopback address TLS is required, here or in a proxy.
  private func checkReach(_ reader: ConfigurationReader) {
    let isLocal = ServerConfiguration.isLoopback(listen.host)
    if !isLocal, !reader.has("tls"), !listen.isBehindProxy {
      reader.report(
        "listen",
        message:
          "\(listen.host) can be reached by others, and tokens would travel in the clear: give \"tls\", listen on 127.0.0.1, "
          + "or say \"behindProxy\": true where a proxy speaks TLS.")
    }
    if listen.isBehindProxy, listen.trustedProxies.isEmpty {
      reader.report(
        "listen",
        message:
          "Name the proxy's address in \"trustedProxies\": without its word for who the client is, all players would be one "
          + "client, and share one client's limits.")
    }
    if reader.has("tls"), listen.isBehindProxy {
      reader.report("tls", message: "With \"behindProxy\": true the proxy speaks TLS; remove one of the two.")
    }
  }

  /// Whether a namespace's name can be made of it.
  static func isProject(_ text: String) -> Bool {
    (1...48).contains(text.utf8.count)
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == 45 }
  }

  private static func namespaces(_ reader: ConfigurationReader, project: String) -> [String] {
    let own = "\(project)-default-rtdb"
    let names = reader.texts("namespaces") ?? []
    for name in names where !NamespaceName.isLegal(name) {
      reader.report("namespaces", message: "\"\(name)\" is no namespace's name: 1 to 64 letters, digits and hyphens.")
    }
    return [own] + names.filter { $0 != own }
  }

  private static func rules(_ reader: ConfigurationReader) -> RulesFile? {
    guard let path = reader.path(of: "rules") else {
      if !reader.has("rules") {
        reader.report(
          "rules", message: "\"rules\" is missing: a file of security rules, for without them nobody may read or write.")
      }
      return nil
    }
    do {
      return try RulesFile(path, with: reader.surroundings.file)
    } catch {
      for line in error.message.split(separator: "\n") { reader.report("rules", message: String(line)) }
      return nil
    }
  }

  private static func links(_ reader: ConfigurationReader) -> LinkSettings? {
    guard let value = reader.value("links") else { return nil }
    do {
      return try LinkSettings(document: value.json.compactText)
    } catch {
      reader.report("links", message: "The links' settings cannot be used: \(error)")
      return nil
    }
  }

  private static func admins(_ reader: ConfigurationReader) -> [AdminToken] {
    let admins = (reader.sections("admins", type: AdminSection.self) ?? []).compactMap(\.token)
    for (index, admin) in admins.enumerated() where admins[..<index].contains(where: { $0.name == admin.name }) {
      reader.report("admins", message: "Two administrators are called \"\(admin.name)\"; records could not tell them apart.")
    }
    return admins
  }

  private static func currencies(_ reader: ConfigurationReader) -> [Currency] {
    let currencies = reader.sections("currencies", type: CurrencySection.self)?.compactMap(\.currency) ?? [.piecesOfEight]
    do {
      _ = try CurrencyTable(currencies)
    } catch {
      reader.report("currencies", message: error.message)
    }
    return currencies
  }
}

extension ServeConfiguration {
  /// A configuration file, read and checked.
  ///
  /// - Throws: every error of the file at once, each on a line as `FILE:LINE:COLUMN: text`.
  package static func load(_ file: String, surroundings: ConfigurationEnvironment = .process) throws(FileError)
    -> ServeConfiguration
  {
    let source = try surroundings.file(file)
    let diagnostics = ConfigurationReader.Diagnostics()
    let read = ConfigurationReader.read(
      source, file: FileBytes.absolute(file), surroundings: surroundings, diagnostics: diagnostics, ServeConfiguration.init)
    let listed = diagnostics.all.sorted { $0.position < $1.position }
    guard listed.isEmpty, var configuration = read else {
      throw FileError(listed.map { "\(file):\($0)" }.joined(separator: "\n"))
    }
    configuration.namedFiles = diagnostics.files
    configuration.sources = diagnostics.sources
    configuration.warnings = diagnostics.warnings.map { "\(file):\($0)" }
    configuration.files = [FileBytes.absolute(file), configuration.rules?.path].compactMap(\.self)
    return configuration
  }

  /// What the application is started with.
  package var serverConfiguration: ServerConfiguration {
    var server = ServerConfiguration(storage: .directory(data))
    server.mode = .production
    server.cluster = storage?.settings
    server.upgrades = copiesBeforeUpgrade ? .copied : .uncopied
    server.accounts = accounts.options
    server.issuers = accounts.issuers
    server.console = console.settings(publicURL: accounts.options.publicURL)
    server.linkSettings = links
    server.messageSettings = messages?.settings
    server.messageCampaigns = messages?.campaigns
    server.messageImages = messages?.images ?? []
    server.host = listen.host
    server.port = listen.port
    server.metricsAddress = metrics.map { PortAddress(host: $0.host, port: $0.port) }
    server.project = project
    server.namespaces = namespaces
    server.admins = admins
    server.currencies = currencies
    server.functionSettings = functions.settings
    server.limits = limits.writes
    server.runners = limits.runners ?? server.runners
    server.eventLoops = limits.eventLoops
    server.rules = rules
    server.certificates = certificates
    server.requestLimits = rateLimits
    server.mail = mail.flatMap { mail in
      guard let smtp = mail.server, let from = mail.from else { return nil }
      return MailSettings(server: smtp, from: from)
    }
    server.backups = backups?.settings
    server.configurationFiles = files
    server.sources = sources
    // Which of the two the server is, its command says.
    server.sources["mode"] = .commandLine
    server.alerts = alerts
    server.templates = mail?.templates ?? server.templates
    server.appName = mail?.appName
    server.http.connectionsMax = listen.connectionsMax
    server.http.connectionsPerNetworkMax = listen.connectionsPerNetworkMax
    server.listensPerNetworkMax = limits.listensPerNetworkMax
    server.unfinishedInputMax = limits.unfinishedInputMax ?? server.unfinishedInputMax
    server.unreadOutputMax = limits.unreadOutputMax ?? server.unreadOutputMax
    server.http.bodyBytesMax = limits.requestBytesMax ?? server.http.bodyBytesMax
    server.http.drainTimeout = .milliseconds(listen.drain)
    server.http.trustedProxies = TrustedProxies(listen.trustedProxies)
    return server
  }
}

/// A file of security rules, read and checked.
package struct RulesFile: Sendable {
  package let path: String
  package let source: String
  package let rules: RuleSet

  /// - `read`: reads a file, whole.
  /// - Throws: ``FileError`` with a line `FILE:LINE:COLUMN: text` for each error.
  package init(
    _ path: String,
    with read: (String) throws(FileError) -> [UInt8] = { (path) throws(FileError) in
      try FileBytes.read(path)
    }
  ) throws(FileError) {
    self.path = path
    guard let source = String(validating: try read(path), as: UTF8.self) else {
      throw FileError("\(path):1:1: The rules must be UTF-8.")
    }
    self.source = source
    do throws(RulesError) {
      rules = try RuleSet(parsing: source)
    } catch {
      let problems = ([error] + error.others).map { "\(path):\($0.line):\($0.column): \($0.message)" }
      throw FileError(problems.joined(separator: "\n"))
    }
  }
}

/// One entry of `admins`: a token that opens the administrators' surface, and the name its actions are recorded under.
struct AdminSection: ConfigurationSection {
  /// Shorter ones could be guessed.
  static let lengthMin = 20

  let token: AdminToken?

  init(_ reader: ConfigurationReader) {
    let name = reader.required("name", example: "ann")
    if !reader.has("token") {
      reader.report(
        "token",
        message:
          "\"\(reader.path("token"))\" is missing: write {\"file\": \"path\"}, {\"env\": \"NAME\"} or {\"credential\": \"NAME\"}."
      )
    }
    let secret = reader.secret("token")
    if let secret, secret.revealed.utf8.count < Self.lengthMin {
      reader.report(
        "token",
        message:
          "This token is shorter than \(Self.lengthMin) characters, and could be guessed; make one with \"openssl rand -hex 32\"."
      )
    }
    if let secret, !secret.revealed.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) {
      reader.report("token", message: "A token is letters, digits and punctuation of ASCII, without blanks.")
    }
    if let name, !name.utf8.allSatisfy({ (48...57).contains($0) || (97...122).contains($0 | 0x20) || "-_.@".utf8.contains($0) })
    {
      reader.report("name", message: "An administrator's name is letters, digits, and - _ . @.")
    }
    if let name, let secret { token = AdminToken(name: name, secret: secret.revealed) } else { token = nil }
  }
}

/// One entry of `currencies`: a kind of coin, and where the balances stand.
struct CurrencySection: ConfigurationSection {
  let currency: Currency?

  init(_ reader: ConfigurationReader) {
    let unit = reader.required("unit", example: "pieces_of_eight")
    let path = reader.required("path", example: "users/{uid}/inventory/pieces_of_eight")
    let holder = reader.text("holder") ?? "user"
    var pattern: PathPattern?
    if let path {
      do {
        pattern = try PathPattern(parsing: path)
      } catch {
        reader.report("path", message: "\(error)")
      }
    }
    if let unit, let pattern {
      currency = Currency(unit: unit, pattern: pattern, holder: holder)
    } else {
      currency = nil
    }
  }
}
