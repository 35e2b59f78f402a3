import APISupport
import AdminClient
import Credentials
import FunctionsKit
import Logging
import Mail
import ServerConfiguration
import TreeModel

/// What a server in production says once it listens, a line of the log for each thing.
struct ServingNotice {
  let configuration: ServerConfiguration
  let functions: [FunctionDefinition]

  /// - Parameter port: the one that was bound.
  func lines(port: Int) -> [String] {
    let isTLS = !configuration.certificates.isEmpty
    let address = ServerAddress(host: configuration.host, port: port, isTLS: isTLS)
    var lines = ["Serving \(address)" + (isTLS || configuration.isLoopback ? "." : ", behind a proxy.")]
    if case .directory(let folder) = configuration.storage { lines.append("Data: \(folder).") }
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
