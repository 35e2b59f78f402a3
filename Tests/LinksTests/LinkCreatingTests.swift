import Links
import StorageCore
import Testing

/// Making short links: what is one link, what is refused, and what is doubtful.
@Suite struct LinkCreatingTests {
  static let query = "link=https://acme.test/?invitedby%3Du42&apn=test.acme.app&ibi=test.acme.ios"

  @Test("equal requests are one link, however they are written; a suffix is 17 characters, or as short as can be")
  func equal() async throws {
    try await LinkFixture.run { fixture in
      let first = try await fixture.create(Self.query)
      #expect(first.warnings.isEmpty && !first.isRepeated && first.record.createdAt == LinkFixture.start)
      #expect(first.record.address.wholeMatch(of: /https:\/\/go\.acme\.test\/r\/[0-9A-Za-z]{17}/) != nil)
      let same = try await fixture.create("apn=test.acme.app&ibi=test.acme.ios&link=https://acme.test/?invitedby%3Du42")
      #expect(same.isRepeated && same.record == first.record)
      let short = try await fixture.create(Self.query, option: .short).record
      #expect(short.address.wholeMatch(of: /https:\/\/go\.acme\.test\/r\/[0-9A-Za-z]{4}/) != nil)
      #expect(try await fixture.create(Self.query, owner: "alice").record.key != first.record.key, "a player's own")
      var draft = try fixture.draft(Self.query)
      draft.invite = "i1"
      let invited = try await fixture.links.create(draft, isAdmin: false, actor: .anonymous).record
      #expect(invited.key.hasPrefix("go.acme.test/r/i/") && invited.prefix == draft.prefix)
    }
  }

  @Test(
    "what must not be a link is refused",
    arguments: [
      ("apn=a.b", "missing"), ("link=ftp://x", "not an absolute http or https URL"),
      ("link=https://go.acme.test/r/abc", "below the prefix"), ("link=https://evil.test", "We could not match param 'link'"),
      ("link=https://acme.test&afl=https://evil.test", "'afl'"), ("link=https://acme.test&ius=javascript", "ius"),
      ("link=https://acme.test&apn=a%2Fb", "no name of an app"),
      ("link=https://acme.test/\(String(repeating: "a", count: 7200))", "7168 characters"),
    ])
  func refused(_ query: String, _ words: String) async throws {
    try await LinkFixture.run { fixture in
      do {
        _ = try await fixture.create(query)
        Issue.record("\(query.prefix(80)) was created")
      } catch LinkError.invalid(let message) {
        #expect(message.contains(words), "\(message)")
      }
      #expect(try fixture.links.directory.links(limit: 1).links.isEmpty, "nothing was created")
    }
  }

  @Test("patterns decide, everywhere")
  func patterns() async throws {
    let settings = LinkFixture.settings.replacing(
      "\"apiKeys\"", with: #""allowPatterns":["^https://([a-z]+\\.)?acme\\.test(/.*)?(\\?.*)?$"],"apiKeys""#)
    try await LinkFixture.run(settings: settings) { fixture in
      _ = try await fixture.create("link=https://www.acme.test/a")
      _ = try await fixture.create("link=https://acme.test?x%3D1")
      var queries = ["link=https://acme.test.evil.test/", "link=https://evil.test/https://acme.test/"]
      queries += ["afl", "ifl", "ipfl", "ofl", "al"].map { "link=https://acme.test&\($0)=https://evil.test/" }
      for query in queries {
        do {
          _ = try await fixture.create(query)
          Issue.record("\(query) was created")
        } catch LinkError.invalid(let message) {
          #expect(message.contains("We could not match param"))
        }
      }
    }
  }

  @Test(
    "what is doubtful is created with a warning",
    arguments: [
      ("apn=other.app", [.unregisteredApp(.androidPackage, name: "other.app")]),
      ("ibi=other.app", [.unregisteredApp(.iosBundle, name: "other.app")]),
      ("ipbi=other.app", [.unregisteredApp(.ipadBundle, name: "other.app")]),
      ("apn=test.acme.app&amv=abc", [.notANumber(.androidMinimumVersion)]),
      ("amv=12", [.noEffectWithoutApp(.androidMinimumVersion)]), ("ibi=test.acme.ios&isi=12a", [.notANumber(.appStoreID)]),
      ("isi=12", [.noEffectWithoutApp(.appStoreID)]),
      ("ibi=test.acme.ios&isi=12", [.otherStoreID("12", bundleID: "test.acme.ios", registered: "900100200")]),
      ("ius=acme", [.noEffectWithoutApp(.iosScheme)]), ("si=ftp://acme.test/a.png", [.notAWebURL(.socialImage)]),
      ("si=nothing", [.notAURL(.socialImage)]), ("afl=market://x", [.notAWebURL(.androidFallback)]),
      ("ifl=nothing", [.notAURL(.iosFallback)]), ("ipfl=nothing", [.notAURL(.ipadFallback)]),
      ("al=nothing", [.notAURL(.androidLink)]), ("al=https://acme.test/x", [.sameAsLink]),
      ("foo=1", [.unknownParameter("foo")]), ("adr=1", [.deprecatedParameter("adr")]), ("d=2", [.badDebug("2")]),
      ("st=\(String(repeating: "a", count: 1100))", [.tooLong(.socialTitle, bytesMax: 1000)]), ("st=a%20b", []),
      ("st=a#frag", [.fragment]),
    ] as [(String, [LinkWarning])])
  func warnings(_ query: String, _ warnings: [LinkWarning]) async throws {
    try await LinkFixture.run { fixture in
      let created = try await fixture.create("link=https://acme.test/x&\(query)")
      #expect(created.warnings == warnings)
      #expect(warnings.allSatisfy { !$0.message.isEmpty })
    }
  }

  @Test("administrators choose suffixes, which must be free")
  func custom() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create("link=https://acme.test/1", option: .custom, suffix: "summer-24", isAdmin: true)
      #expect(link.record.address == "https://go.acme.test/r/summer-24")
      await #expect(throws: LinkError.suffixTaken("summer-24")) {
        try await fixture.create("link=https://acme.test/2", option: .custom, suffix: "summer-24", isAdmin: true)
      }
      await #expect(throws: LinkError.suffixNeedsAdministrator) {
        try await fixture.create("link=https://acme.test/2", option: .custom, suffix: "winter")
      }
      for word in ["i", "link", ".well-known", "v1", "admin", "a/b", "", "ä", String(repeating: "a", count: 65)] {
        do {
          _ = try await fixture.create("link=https://acme.test/3", option: .custom, suffix: word, isAdmin: true)
          Issue.record("\(word) was accepted")
        } catch LinkError.invalid {}
      }
    }
  }

  @Test("the sixth link in a second from one address waits")
  func rate() async throws {
    try await LinkFixture.run { fixture in
      let links = fixture.links
      func admits(_ address: String) -> Bool { links.admitsCreation(address: address, key: "k", at: fixture.clock.now()) }
      for _ in 0..<5 { #expect(admits("192.0.2.7")) }
      #expect(!admits("192.0.2.7") && admits("192.0.2.8"))
      fixture.clock.advance(by: 1000)
      #expect(admits("192.0.2.7"))
    }
  }

  @Test("a link is found by its address, with or without https, and by no other")
  func find() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create("link=https://acme.test/a&st=Hi").record
      let address = link.address
      for text in [address, String(address.dropFirst(8)), address + "/", address + "?cid=x", "https:/" + address.dropFirst(8)] {
        #expect(try fixture.links.record(text) == link, "\(text)")
      }
      #expect(try fixture.links.record("none.test/x") == nil && fixture.links.record("https://go.acme.test") == nil)
    }
  }
}
