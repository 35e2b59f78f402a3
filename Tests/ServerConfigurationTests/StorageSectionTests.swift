import Testing
import TreeModel

@testable import ServerConfiguration

/// The section `storage`.
@Suite struct StorageSectionTests {
  private static let files = [
    "/url": "postgresql://doubloon:word@db1,db2/doubloon\n", "/key": "0123456789abcdef0123456789abcdef\n", "/short": "0123\n",
  ]
  private static let least = #""postgres": {"file": "/url"}, "sealingKey": {"file": "/key"}"#

  @Test("Where the store is kept arrives, and what is not said has its default")
  func settings() throws {
    let text =
      "{\(ConfigurationTests.least), \"storage\": {\(Self.least), \"schema\": \"s7\", \"standbys\": \"managed\", "
      + "\"address\": \"10.0.0.1:9000\", \"staleReads\": \"[::1]:9001\"}}"
    let server = try ConfigurationTests.load(text, files: Self.files).serverConfiguration
    let cluster = try #require(server.cluster)
    #expect(cluster.url == "postgresql://doubloon:word@db1,db2/doubloon" && cluster.schema == "s7" && cluster.allowsSingle)
    #expect(cluster.address == "10.0.0.1:9000" && cluster.sealingKey?.count == 32)
    #expect(cluster.staleReads == PortAddress(host: "::1", port: 9001))
    let shown = server.settings.filter { $0.name.hasPrefix("storage") }
    #expect(
      shown.map(\.name) == [
        "storage.postgres", "storage.schema", "storage.standbys", "storage.address", "storage.staleReads", "storage.sealingKey",
      ])
    #expect(shown[4].value.string == "[::1]:9001")
    #expect(shown.filter(\.isSecret).map(\.value.string) == ["set", "set"])
    let defaults = try ConfigurationTests.load(
      "{\(ConfigurationTests.least), \"storage\": {\(Self.least)}}", files: Self.files
    ).serverConfiguration.cluster
    #expect(
      defaults?.schema == "doubloon" && defaults?.allowsSingle == false && defaults?.address == nil
        && defaults?.staleReads == nil)
    #expect(try ConfigurationTests.load("{\(ConfigurationTests.least)}").serverConfiguration.cluster == nil)
  }

  @Test(
    "What could lose or tell something is refused with what to do",
    arguments: [
      ("{}", "a connection string such as"), (#"{"postgres": {"file": "/url"}}"#, "openssl rand -hex 32"),
      (#"{"postgres": "postgresql://open", "sealingKey": {"file": "/key"}}"#, "is a secret"),
      (#"{"postgres": {"file": "/url"}, "sealingKey": {"file": "/short"}}"#, "shorter than 32"),
      ("{\(least), \"schema\": \"a b\"}", "lower-case letters"), ("{\(least), \"standbys\": \"none\"}", "\"managed\""),
      ("{\(least), \"staleReads\": \"9001\"}", "0.0.0.0:9001"), ("{\(least), \"staleReads\": \":9001\"}", "0.0.0.0:9001"),
      ("{\(least), \"address\": \"here\"}", "10.0.0.1:9000"), ("{\(least), \"address\": \"h:99999\"}", "10.0.0.1:9000"),
    ])
  func refused(_ section: String, _ words: String) {
    let faults = ConfigurationTests.faults("{\(ConfigurationTests.least), \"storage\": \(section)}", files: Self.files)
    #expect(faults.contains { $0.contains(words) }, "\(faults)")
  }
}
