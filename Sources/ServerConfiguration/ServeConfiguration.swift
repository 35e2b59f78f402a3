import APISupport
import AccessRules
import HTTPServer
import Ledger
import Links
import StorageCore

/// What `doubloon serve` is told by its file: the whole of it, typed.
///
/// The contents page of the configuration; each room's part is a ``ConfigurationSection``.
package struct ServeConfiguration: ConfigurationSection {
  package let project: String
  package let namespaces: [String]
  /// The folder that the data are in.
  let data: String
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
  let accounts: AccountsSection
  /// What links are and where they lead; nil leaves what was set through the administrators' surface.
  let links: LinkSettings?
  /// What is not well about the file and those that it names, each as `FILE:LINE:COLUMN: text`.
  package var warnings: [String] = []

  package init(_ reader: ConfigurationReader) {
    let project = reader.required("project", "treasure-hunt") ?? "unnamed"
    self.project = project
    if !Self.isProject(project) { reader.fault("project", "\"project\" must be 1 to 48 letters, digits and hyphens.") }
    namespaces = Self.namespaces(reader, project)
    data = reader.path(of: "data") ?? "."
    if !reader.has("data") {
      reader.fault("data", "\"data\" is missing; it is the folder for the data, such as \"/var/lib/doubloon\".")
    }
    rules = Self.rules(reader)
    listen = reader.section("listen", ListenSection.self)
    metrics = reader.optionalSection("metrics", MetricsSection.self)
    certificates = (reader.sections("tls", CertificateSection.self) ?? []).compactMap(\.files)
    admins = Self.admins(reader)
    currencies = Self.currencies(reader)
    functions = reader.section("functions", FunctionsSection.self)
    limits = reader.section("limits", LimitsSection.self)
    let isUnlimited = if case .bool(false) = reader.value("rateLimits")?.content { true } else { false }
    rateLimits = isUnlimited ? nil : reader.section("rateLimits", RateLimitSection.self).limits
    mail = reader.optionalSection("mail", MailSection.self)
    accounts = reader.section("accounts", AccountsSection.self)
    links = Self.links(reader)
    checkReach(reader)
  }

  /// Who can reach the server must be asked for by TLS, here or before it.
  private func checkReach(_ reader: ConfigurationReader) {
    let isLocal = ServerConfiguration.isLoopback(listen.host)
    if !isLocal, !reader.has("tls"), !listen.isBehindProxy {
      reader.fault(
        "listen",
        "\(listen.host) can be reached by others, and tokens would travel in the clear: give \"tls\", listen on 127.0.0.1, "
          + "or say \"behindProxy\": true where a proxy speaks TLS.")
    }
    if listen.isBehindProxy, listen.trustedProxies.isEmpty {
      reader.fault(
        "listen",
        "Name the proxy's address in \"trustedProxies\": without its word for who the client is, all players would be one "
          + "client, and share one client's limits.")
    }
    if reader.has("tls"), listen.isBehindProxy {
      reader.fault("tls", "With \"behindProxy\": true the proxy speaks TLS; remove one of the two.")
    }
  }

  /// Whether a namespace's name can be made of it.
  static func isProject(_ text: String) -> Bool {
    (1...48).contains(text.utf8.count)
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == 45 }
  }

  private static func namespaces(_ reader: ConfigurationReader, _ project: String) -> [String] {
    let own = "\(project)-default-rtdb"
    let names = reader.texts("namespaces") ?? []
    for name in names where !NamespaceName.isLegal(name) {
      reader.fault("namespaces", "\"\(name)\" is no namespace's name: 1 to 64 letters, digits and hyphens.")
    }
    return [own] + names.filter { $0 != own }
  }

  private static func rules(_ reader: ConfigurationReader) -> RulesFile? {
    guard let path = reader.path(of: "rules") else {
      if !reader.has("rules") {
        reader.fault("rules", "\"rules\" is missing: a file of security rules, for without them nobody may read or write.")
      }
      return nil
    }
    do {
      return try RulesFile(path, with: reader.surroundings.file)
    } catch {
      for line in error.message.split(separator: "\n") { reader.fault("rules", String(line)) }
      return nil
    }
  }

  private static func links(_ reader: ConfigurationReader) -> LinkSettings? {
    guard let value = reader.value("links") else { return nil }
    do throws(LinkFault) {
      return try LinkSettings(json: value.json)
    } catch {
      reader.fault("links", "The links' settings cannot be used: \(error.message)")
      return nil
    }
  }

  private static func admins(_ reader: ConfigurationReader) -> [AdminToken] {
    let admins = (reader.sections("admins", AdminSection.self) ?? []).compactMap(\.token)
    for (index, admin) in admins.enumerated() where admins[..<index].contains(where: { $0.name == admin.name }) {
      reader.fault("admins", "Two administrators are called \"\(admin.name)\"; records could not tell them apart.")
    }
    return admins
  }

  private static func currencies(_ reader: ConfigurationReader) -> [Currency] {
    let currencies = reader.sections("currencies", CurrencySection.self)?.compactMap(\.currency) ?? [.piecesOfEight]
    do {
      _ = try CurrencyTable(currencies)
    } catch {
      reader.fault("currencies", error.message)
    }
    return currencies
  }
}
