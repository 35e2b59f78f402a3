import StorageCore
import Testing
import TreeModel

@testable import ServerConfiguration

/// What administrators see of the configuration that is in force.
@Suite struct SettingsTests {
  private static let files = ["/s": "0123456789abcdef0123456789\n"]

  @Test("Settings are shown with their defaults; of secrets only that they are set, wherever they stand")
  func settings() throws {
    let text = """
      {\(ConfigurationTests.least), "listen": {"port": 9100},
        "admins": [{"name": "ann", "token": {"file": "/s"}}],
        "mail": {"from": "a@b.c", "smtp": {"host": "m", "user": "u", "password": {"file": "/s"}}},
        "alerts": {"webhook": {"url": "https://x.example/secret-path", "secret": {"file": "/s"}}},
        "backups": {"command": ["/usr/bin/put", "--key", "secret-word", "{name}"]},
        "rateLimits": {"reads": "7/s"}}
      """
    let settings = try ConfigurationTests.load(text, files: Self.files).serverConfiguration.settings
    func value(_ name: String) -> JSON? { settings.first { $0.name == name }?.value }
    for (name, expected) in [
      ("mode", "production"), ("project", "game"), ("listen.port", 9100), ("listen.host", "127.0.0.1"),
      ("rules", "/r.json"), ("admins.ann.token", "set"), ("mail.smtp.host", "m"), ("mail.smtp.password", "set"),
      ("alerts.webhook", "x.example"), ("alerts.webhook.secret", "set"), ("backups.command", "/usr/bin/put"),
      ("rateLimits.reads", "7/s"), ("backups.to", .null), ("limits.hops", 8), ("accounts.sessionsPerAccount", 100),
    ] as [(String, JSON)] {
      #expect(value(name) == expected, "\(name): \(value(name)?.compactText ?? "missing")")
    }
    func source(_ name: String) -> ServerConfiguration.Setting.Source? { settings.first { $0.name == name }?.source }
    for name in ["project", "listen.port", "admins.ann.token", "alerts.webhook", "backups.command", "rateLimits.reads"] {
      #expect(source(name) == .file, "\(name)")
    }
    for name in ["listen.host", "backups.to", "limits.hops"] { #expect(source(name) == .default, "\(name)") }
    #expect(source("mode") == .commandLine)
    let shown = settings.map { "\($0.name) \($0.value.compactText)" }.joined(separator: "\n")
    for secret in ["0123456789", "secret-path", "secret-word"] { #expect(!shown.contains(secret)) }
    #expect(settings.filter(\.isSecret).allSatisfy { $0.value.isNull || $0.value == "set" })
    #expect(Set(settings.map(\.name)).count == settings.count)
  }

  @Test("Development shows what it has: no files, no limits of rates, the data's folder or none")
  func development() {
    let settings = ServerConfiguration(storage: .memory).settings
    #expect(settings.first { $0.name == "mode" }?.value == "development")
    #expect(settings.first { $0.name == "data" }?.value == .null)
    #expect(settings.first { $0.name == "rateLimits" }?.value == .bool(false))
    #expect(!settings.contains { $0.value == "owner" })
  }
}
