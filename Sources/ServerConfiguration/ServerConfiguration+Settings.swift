import APISupport
import Accounts
import Backups
import Credentials
import HTTPServer
import Mail
import MailContent
import StorageCore
package import TreeModel

extension ServerConfiguration {
  /// A setting as it is in force.
  package struct Setting: Sendable {
    /// As the configuration file has it: `listen.port`.
    package let name: String
    /// Null for what is not set; for a secret that is set, the word `set`.
    package let value: JSON
    /// Whether it is a secret, of which nothing is shown.
    package let isSecret: Bool
    /// Where it was given.
    package fileprivate(set) var source = Source.default

    fileprivate init(name: String, value: JSON, isSecret: Bool) {
      self.name = name
      self.value = value
      self.isSecret = isSecret
    }

    /// Where a setting was given.
    package enum Source: String, Sendable {
      /// Nowhere: it is what the program takes by itself.
      case `default`
      /// In the configuration file, or in a file that it names.
      case file
      /// In a variable of the environment that the file names.
      case environment
      /// By the command that the server was started with.
      case commandLine = "command-line"
    }
  }

  /// What is in force, defaults among it, for administrators to look at: no secret, and nothing that holds one. Durations are
  /// milliseconds, sizes are bytes.
  package var settings: [Setting] {
    (general + storing + listening + rates + limiting + mailing + copying + accounting + administering).map { setting in
      var setting = setting
      setting.source = source(of: setting.name)
      return setting
    }
  }

  /// Where a setting was given, by its own name or by the one that it has in the file.
  private func source(of name: String) -> Setting.Source {
    let inFile: String =
      if let index = admins.firstIndex(where: { name == "admins.\($0.name).token" }) { "admins[\(index)].token" } else {
        switch name {
        case "alerts.webhook": "alerts.webhook.url"
        default: name
        }
      }
    return sources[name] ?? sources[inFile] ?? .default
  }

  private static func shown(_ name: String, _ value: JSON?) -> Setting {
    Setting(name: name, value: value ?? .null, isSecret: false)
  }

  private static func shown(_ name: String, _ text: String?) -> Setting { shown(name, text.map(JSON.string)) }

  private static func shown(_ name: String, _ number: Int?) -> Setting { shown(name, number.map { JSON.int(Int64($0)) }) }

  private static func shown(_ name: String, _ texts: [String]) -> Setting { shown(name, JSON.array(texts.map(JSON.string))) }

  /// - `isSet`: whether there is one.
  private static func secret(_ name: String, isSet: Bool) -> Setting {
    Setting(name: name, value: isSet ? "set" : .null, isSecret: true)
  }

  private var general: [Setting] {
    let folder: String? = if case .directory(let folder) = storage { folder } else { nil }
    let currencies = currencies.map { currency -> JSON in
      ["unit": .string(currency.unit), "path": .string(currency.pattern.description), "holder": .string(currency.holder)]
    }
    return [
      Self.shown("mode", mode == .development ? "development" : "production"), Self.shown("project", project),
      Self.shown("namespaces", namespaces), Self.shown("data", folder), Self.shown("rules", rules?.path),
      Self.shown("currencies", .array(currencies)), Self.shown("functions", functionSettings.jsonValue(.plain)),
    ] + admins.map { Self.secret("admins.\($0.name).token", isSet: true) }
  }

  private var storing: [Setting] {
    guard let cluster else { return [] }
    return [
      Self.secret("storage.postgres", isSet: true), Self.shown("storage.schema", cluster.schema),
      Self.shown("storage.standbys", cluster.allowsSingle ? "managed" : "required"),
      Self.shown("storage.address", cluster.address), Self.shown("storage.staleReads", cluster.staleReads?.description),
      Self.secret("storage.sealingKey", isSet: cluster.sealingKey != nil),
    ]
  }

  private var listening: [Setting] {
    [
      Self.shown("listen.host", host), Self.shown("listen.port", port),
      Self.shown("listen.connections", http.connectionsMax),
      Self.shown("listen.connectionsPerNetwork", http.connectionsPerNetworkMax),
      Self.shown("metrics", metricsAddress?.description),
      Self.shown("tls", certificates.map(\.certificate)),
    ]
  }

  private var rates: [Setting] {
    guard let limits = requestLimits else { return [Self.shown("rateLimits", .bool(false))] }
    let rates: [(String, RateLimit?)] = [
      ("reads", limits.reads), ("writes", limits.writes), ("socketWrites", limits.socketWrites),
      ("socketWritesOfNetwork", limits.socketWritesOfNetwork), ("connections", limits.connections), ("admin", limits.admin),
      ("accounts", limits.accounts), ("links", limits.links), ("others", limits.others),
      ("administrators", limits.administrators),
    ]
    return rates.map { Self.shown("rateLimits.\($0)", $1?.description) }
  }

  private var limiting: [Setting] {
    [
      Self.shown("limits.commitLeaves", limits.leavesMax), Self.shown("limits.commitBytes", limits.bytesMax),
      Self.shown("limits.commitEvents", limits.eventsMax), Self.shown("limits.eventBytes", limits.eventBytesMax),
      Self.shown("limits.hops", limits.hopsMax), Self.shown("limits.waitingWrites", limits.queueMax),
      Self.shown("limits.requestBytes", http.bodyBytesMax), Self.shown("limits.listensPerNetwork", listensPerNetworkMax),
      Self.shown("limits.unfinishedInput", unfinishedInputMax), Self.shown("limits.unreadOutput", unreadOutputMax),
      Self.shown("limits.functionThreads", runners), Self.shown("limits.requestThreads", eventLoops),
    ]
  }

  private var mailing: [Setting] {
    let webhook = alerts?.webhook
    return [
      Self.shown("mail.from", mail?.from.address), Self.shown("mail.appName", appName),
      Self.shown("mail.smtp.host", mail?.server.host), Self.shown("mail.smtp.port", mail?.server.port),
      Self.shown("mail.smtp.security", mail?.server.security.rawValue),
      Self.secret("mail.smtp.password", isSet: mail?.server.login != nil),
      // The path of a webhook's address may be a secret.
      Self.shown("alerts.webhook", webhook?.description), Self.secret("alerts.webhook.secret", isSet: webhook != nil),
      Self.shown("alerts.mail", alerts?.mail.map(\.address) ?? []),
    ]
  }

  private var copying: [Setting] {
    var (folder, program): (String?, String?) = (nil, nil)
    switch backups?.destination {
    case .folder(let path): folder = path
    // Its arguments may hold a secret.
    case .command(let words): program = words.first
    case nil: break
    }
    return [
      Self.shown("backups.every", backups.map { JSON.int($0.schedule.every) }), Self.shown("backups.to", folder),
      Self.shown("backups.command", program), Self.shown("backups.recipient", backups?.recipient?.text),
      Self.shown("backups.configuration", backups.map { JSON.bool($0.includesConfiguration) }),
    ]
  }

  private var accounting: [Setting] {
    func time(_ name: String, _ milliseconds: Int64?) -> Setting {
      Self.shown("accounts.\(name)", milliseconds.map(JSON.int) ?? .bool(false))
    }
    return [
      Self.shown("accounts.publicURL", accounts.publicURL),
      Self.shown("accounts.authorizedDomains", accounts.authorizedDomains.sorted()),
      time("anonymousLifetime", accounts.anonymousLifetime), time("sessionIdle", accounts.sessionIdleMax),
      time("recentSignIn", accounts.recentSignIn), time("paidIdentities", accounts.paidIdentityLifetime),
      time("codeLifetime", accounts.codeLifetime), Self.shown("accounts.personalPlaces", accounts.personalPaths),
      Self.shown("accounts.signUpsPerHour", accounts.signUpsPerHour),
      Self.shown("accounts.sessionsPerAccount", accounts.sessionsMax),
      Self.shown("accounts.wrongPasswords", accounts.failuresMax),
      Self.shown("accounts.hashingThreads", accounts.hashingThreads),
    ]
  }

  private var administering: [Setting] {
    [
      Self.shown("console.enabled", JSON.bool(console.isEnabled)),
      // Null: the name of accounts.publicURL, or where there is none, every name by which the server is reached.
      Self.shown("console.hosts", console.hosts.map { hosts in JSON.array(hosts.map(JSON.string)) }),
      Self.shown("console.idle", JSON.int(console.idleTime)), Self.shown("console.lifetime", JSON.int(console.lifetime)),
      Self.shown("console.claim", console.claim),
      Self.shown("console.requireSecondFactor", JSON.bool(console.requiresSecondFactor)),
    ]
  }
}
