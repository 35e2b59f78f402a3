import Mail
import Testing

@testable import ServerConfiguration

/// The sections `alerts` and `log`.
@Suite struct AlertSectionTests {
  private static let files = ["/s": "0123456789abcdef\n", "/short": "0123\n"]

  @Test("Whom to tell arrives, and what is not said has its default")
  func alerts() throws {
    let text = """
      {\(ConfigurationTests.least),
        "mail": {"from": "a@b.c", "smtp": {"host": "m"}},
        "alerts": {"webhook": {"url": "https://x.example/h?a=1", "secret": {"file": "/s"}, "ca": "ca.pem"},
          "mail": ["Ops <ops@x.example>"], "minimumInterval": "5min", "diskFree": "2GB", "certificateLeft": "7d",
          "backupAge": "26h"}}
      """
    let server = try ConfigurationTests.load(text, files: Self.files).serverConfiguration
    let alerts = try #require(server.alerts)
    #expect(alerts.webhook?.url == "https://x.example/h?a=1" && alerts.webhook?.authority == "/ca.pem")
    #expect(alerts.webhook?.secret == "0123456789abcdef" && alerts.webhook.map { "\($0)" } == "x.example")
    #expect(alerts.mail.map(\.address) == ["ops@x.example"] && alerts.minimumInterval == 300_000)
    #expect(alerts.diskFreeMin == 2 << 30 && alerts.certificateLeftMin == 7 * 86_400_000)
    #expect(alerts.backupAgeMax == 93_600_000)
    let least =
      "{\(ConfigurationTests.least), \"alerts\": {\"webhook\": {\"url\": \"http://127.0.0.1:9/h\", "
      + "\"secret\": {\"file\": \"/s\"}}}}"
    let defaults = try ConfigurationTests.load(least, files: Self.files).serverConfiguration.alerts
    #expect(defaults?.minimumInterval == 3_600_000 && defaults?.diskFreeMin == 1 << 30 && defaults?.backupAgeMax == nil)
    #expect(try ConfigurationTests.load("{\(ConfigurationTests.least)}").serverConfiguration.alerts == nil)
  }

  @Test(
    "What would tell nobody, or everybody, is refused with what to do",
    arguments: [
      ("{}", "tells nobody"), (#"{"mail": ["ops@x.example"]}"#, "needs \"mail\""), (#"{"mail": ["nobody"]}"#, "\"nobody\""),
      (#"{"webhook": {"url": "http://x.example/h", "secret": {"file": "/s"}}}"#, "begins with https://"),
      (#"{"webhook": {"url": "https://a:b@x.example/h", "secret": {"file": "/s"}}}"#, "without a name and a password"),
      (#"{"webhook": {"url": "https://x.example/h"}}"#, "what signs alerts"),
      (#"{"webhook": {"url": "https://x.example/h", "secret": {"file": "/short"}}}"#, "shorter than 16"),
      (#"{"webhook": {"url": "https://x.example/h", "secret": "open"}}"#, "is a secret"),
      (#"{"webhook": {"url": "https://x.example/h", "secret": {"file": "/s"}}, "minimumInterval": "1ms"}"#, "must be 1s to 7d"),
    ])
  func refused(_ section: String, _ words: String) {
    let faults = ConfigurationTests.faults("{\(ConfigurationTests.least), \"alerts\": \(section)}", files: Self.files)
    #expect(faults.contains { $0.contains(words) }, "\(faults)")
  }

  @Test("The log's form and level; anything else is refused")
  func log() throws {
    func settings(_ section: String) throws -> LogSettings {
      try ConfigurationTests.load("{\(ConfigurationTests.least), \"log\": \(section)}").log
    }
    #expect(try settings("{}") == LogSettings(format: .text, level: .notice))
    #expect(try settings(#"{"format": "json", "level": "debug"}"#) == LogSettings(format: .json, level: .debug))
    let faults = ConfigurationTests.faults("{\(ConfigurationTests.least), \"log\": {\"format\": \"xml\", \"level\": \"loud\"}}")
    #expect(faults.contains { $0.contains("must be one of \"text\", \"json\"") } && faults.count == 2, "\(faults)")
  }
}
