import Links
import StorageCore
import Testing
import TreeDatabase

/// Bringing links along.
@Suite struct LinkImportTests {
  private func importRows(_ fixture: LinkFixture, _ csv: String, under prefix: String? = nil, isDryRun: Bool = false)
    async throws -> [LinkImport.Outcome]
  {
    try await fixture.links.importRows(
      try LinkImport(csv: csv).rows, under: try prefix.map { try #require(LinkPrefix($0)) }, isDryRun: isDryRun,
      actor: .admin("ann")
    ).map(\.outcome)
  }

  @Test("imported links keep their suffixes on a domain of one's own, and a second import changes nothing")
  func importing() async throws {
    try await LinkFixture.run { fixture in
      let csv = """
        Link name,Short link,Long link\r
        poster,https://acme.page.link/AbC1,"https://acme.page.link/?link=https://acme.test/a%3Fx%3D1&apn=test.acme.app"\r
        ,https://acme.page.link/xyz_9,https://acme.test/b\r
        ,https://acme.page.link/evil,https://evil.test/\r
        ,no link,https://acme.test/c\r

        """
      func take(isDryRun: Bool = false) async throws -> [LinkImport.Outcome] {
        try await importRows(fixture, csv, under: "https://go.acme.test/r", isDryRun: isDryRun)
      }
      #expect(try await take(isDryRun: true).count { $0 == .created } == 2)
      #expect(try fixture.links.entry("go.acme.test/r/AbC1") == nil, "nothing was created")
      let outcomes = try await take()
      #expect(outcomes[..<2] == [.created, .created])
      for outcome in outcomes[2...] {
        guard case .refused(let problem) = outcome else { throw Unexpected("\(outcome)") }
        #expect(!problem.isEmpty)
      }
      #expect(try fixture.links.entry("go.acme.test/r/AbC1")?.desktop.url == "https://acme.test/a?x=1")
      #expect(try fixture.links.entry("go.acme.test/r/xyz_9")?.desktop.url == "https://acme.test/b")
      #expect(try fixture.links.entry("go.acme.test/r/abc1") == nil)
      #expect(try await take()[..<2] == [.unchanged, .unchanged])
      let page = try fixture.links.directory.links(limit: 1).links
      #expect(page.map(\.name) == ["poster"] && page.map(\.key) == ["go.acme.test/r/AbC1"])
      #expect(try fixture.links.directory.links(after: page[0].key, limit: 5).links.count == 1)
    }
  }

  @Test("of rows with one suffix one is imported, however many come at once")
  func repeated() async throws {
    try await LinkFixture.run { fixture in
      let rows = (0..<200).map { "https://go.acme.test/r/s\($0 % 50),https://acme.test/\($0 % 100 < 50 ? $0 % 50 : 999)" }
      let outcomes = try await importRows(fixture, "short link,long link\n" + rows.joined(separator: "\n"))
      // Each suffix comes four times, with two targets: one row is created, its equal is there, the others lead elsewhere.
      #expect(outcomes.count { $0 == .created } == 50 && outcomes.count { $0 == .unchanged } == 50)
      #expect(outcomes.count == 200 && outcomes[..<50].allSatisfy { $0 == .created }, "the first row counts")
      for number in [0, 17, 49] {
        #expect(try fixture.links.entry("go.acme.test/r/s\(number)")?.desktop.url == "https://acme.test/\(number)")
      }
    }
  }

  @Test("a row that is disabled elsewhere is disabled here, and a row elsewhere than the domains is refused")
  func rows() async throws {
    try await LinkFixture.run { fixture in
      let outcomes = try await importRows(
        fixture,
        "State,Short link,Long link\ndisabled,https://go.acme.test/r/off,https://acme.test/\n,https://a.test/x,https://acme.test/"
      )
      #expect(outcomes.first == .created)
      guard case .refused(let problem) = outcomes.last else { throw Unexpected("\(outcomes)") }
      #expect(problem.contains("none of the \"domains\""))
      #expect(try fixture.links.entry("go.acme.test/r/off")?.isDisabled == true)
    }
  }
}

/// The settings of links as one document.
@Suite struct LinkSettingsTests {
  @Test(
    "settings say which member is wrong",
    arguments: [
      ("[]", "JSON object"), ("{", "no JSON"),
      ("{\"domain\":[]}", "domain"), ("{\"domains\":[\"http://a.test\"]}", "https://HOST"),
      ("{\"domains\":[\"https://a.test/admin\"]}", "/admin"),
      ("{\"domains\":[\"https://a.test\",\"https://A.test/\"]}", "twice"),
      ("{\"apps\":{\"ios\":[{}]}}", "bundleId"),
      ("{\"apps\":{\"ios\":[{\"bundleId\":\"a\",\"appStoreId\":\"x\"}]}}", "appStoreId"),
      ("{\"apps\":{\"android\":[{\"packageName\":\"a\",\"sha256Fingerprints\":[\"AA\"]}]}}", "fingerprint"),
      ("{\"apps\":{\"ios\":[{\"bundleId\":\"a\",\"customScheme\":\"javascript\"}]}}", "customScheme"),
      ("{\"referral\":{\"path\":\"/users/x\"}}", "{uid}"), ("{\"heuristics\":{\"windowHours\":48}}", "windowHours"),
      ("{\"referral\":{\"path\":\"/users/{uid}/{game}/by\"}}", "open nowhere else"),
      ("{\"referral\":{\"signedInPath\":\"/users/{uid}/*/at\"}}", "open nowhere else"),
      ("{\"hosts\":[\"a b\"]}", "hosts"), ("{\"apiKeys\":[{\"key\":\"a\",\"methods\":[\"delete\"]}]}", "methods"),
      ("{\"allowPatterns\":[\"^a\",\"^a\",\"^a\",\"^a\",\"^a\",\"^a\",\"^a\",\"^a\",\"^a\",\"^a\",\"^a\"]}", "10 is the most"),
      ("{\"allowPatterns\":[\"(\"]}", "allowPatterns"), ("{\"allowPatterns\":[\"^(?=a)\"]}", "look-around"),
      ("{\"allowPatterns\":[\"(a)\\\\1\"]}", "back-references"), ("{\"allowPatterns\":[\"*\"]}", "nothing to repeat"),
    ])
  func faults(_ document: String, _ words: String) throws {
    let error = try #require(throws: LinkError.self) { try LinkSettings(document: document) }
    #expect(error.message.contains(words), "\(error)")
  }

  @Test("what is read can be written, defaults included; loose patterns make a warning")
  func document() throws {
    let settings = try LinkSettings(document: LinkFixture.settings)
    let again = try LinkSettings(document: settings.document)
    #expect(again.document == settings.document && again.domains.count == 3 && settings.warnings.isEmpty)
    #expect(try LinkSettings(document: "{}").document == LinkSettings().document)
    let loose = try LinkSettings(document: "{\"allowPatterns\":[\"acme\"]}")
    #expect(loose.warnings.count == 1 && loose.warnings[0].contains("not anchored"))
  }

  @Test("settings of the configuration file are not changed at run time")
  func configured() async throws {
    try await LinkFixture.run { fixture in
      let configured = try LinkService(
        engine: fixture.database.engine, writer: fixture.database, home: LinkFixture.TestNamespace(database: fixture.database),
        clock: fixture.clock, random: SystemRandomNumberGenerator(), settings: LinkSettings())
      await #expect(throws: LinkError.settingsInFile) { try await configured.put(LinkSettings()) }
    }
  }
}
