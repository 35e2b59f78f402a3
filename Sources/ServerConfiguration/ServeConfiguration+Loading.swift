import APISupport
import HTTPServer
import MailContent
import NIOCore

extension ServeConfiguration {
  /// A configuration file, read and checked.
  ///
  /// - Throws: every fault of the file at once, each on a line as `FILE:LINE:COLUMN: text`.
  package static func load(_ file: String, surroundings: ConfigurationSurroundings = .process) throws(FileError)
    -> ServeConfiguration
  {
    let source = try surroundings.file(file)
    let faults = ConfigurationReader.Faults()
    let read = ConfigurationReader.read(
      source, file: FileBytes.absolute(file), surroundings: surroundings, faults: faults, ServeConfiguration.init)
    let listed = faults.all.sorted { $0.position < $1.position }
    guard listed.isEmpty, var configuration = read else {
      throw FileError(listed.map { "\(file):\($0)" }.joined(separator: "\n"))
    }
    configuration.warnings = faults.warnings.map { "\(file):\($0)" }
    return configuration
  }

  /// What the application is started with.
  package var serverConfiguration: ServerConfiguration {
    var server = ServerConfiguration(storage: .directory(data))
    server.mode = .production
    server.accounts = accounts.options
    server.issuers = accounts.issuers
    server.linkSettings = links
    server.host = listen.host
    server.port = listen.port
    server.metricsAddress = metrics.map { ServerConfiguration.MetricsAddress(host: $0.host, port: $0.port) }
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
