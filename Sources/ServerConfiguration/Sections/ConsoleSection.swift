import APISupport
import Credentials
import TextFormats

/// `console`: whether administrators may use the server by its own pages, under which names, and for how long.
struct ConsoleSection: ConfigurationSection {
  let settings: ConsoleSettings
  /// Whether the file names the hosts.
  let hasHosts: Bool

  init(_ reader: ConfigurationReader) {
    var settings = ConsoleSettings()
    settings.isEnabled = reader.flag("enabled") ?? settings.isEnabled
    settings.idleTime = reader.duration("idle", range: 60_000...86_400_000) ?? settings.idleTime
    settings.lifetime = reader.duration("lifetime", range: 60_000...30 * 86_400_000) ?? settings.lifetime
    settings.claim = reader.text("claim")
    settings.requiresSecondFactor = reader.flag("requireSecondFactor") ?? settings.requiresSecondFactor
    if let claim = settings.claim, claim.isEmpty || ReservedClaims.names.contains(claim) {
      reader.report("claim", message: "\"console.claim\" must name a claim of players' accounts that the server does not set.")
    }
    let hosts = reader.texts("hosts")
    for host in hosts ?? [] where host.contains(where: { ":/ ".contains($0) }) {
      reader.report("hosts", message: "\"\(host)\" in \"console.hosts\" must be a name without scheme and port.")
    }
    settings.hosts = hosts?.map { $0.lowercased() } ?? []
    hasHosts = hosts != nil
    self.settings = settings
  }

  /// The settings, with the name of the server's public address where no other is given.
  func settings(publicURL: String?) -> ConsoleSettings {
    var settings = settings
    if !hasHosts, let publicURL, let host = URLParts(publicURL).authority.flatMap({ URLAuthority($0) })?.host {
      settings.hosts = [host.lowercased()]
    }
    return settings
  }
}
