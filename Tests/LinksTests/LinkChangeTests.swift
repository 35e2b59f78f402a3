import Links
import StorageCore
import Testing

/// Links that administrators change, switch off and delete.
@Suite struct LinkChangeTests {
  private static let ann = Actor.admin("ann")

  /// What the proof of a click opens in a newly installed app; nil if it is not attributed.
  private func deepLink(_ fixture: LinkFixture, _ copied: String) async throws -> String? {
    var installation = Installation(bundleID: "test.acme.ios")
    installation.link = copied
    guard case .link(let payload, _) = try await fixture.links.attribution.install(installation) else { return nil }
    return payload.deepLink
  }

  private func claim(_ fixture: LinkFixture, _ presented: LinkClaims.Presented) async throws -> LinkClaim {
    try await fixture.links.claims.claim(presented, for: "carol", address: nil)
  }

  @Test("a link that is edited says something else under its address, with its code and counts, also to who opened it before")
  func edit() async throws {
    try await LinkFixture.run { fixture in
      let query = "link=https://acme.test/old?invitedby%3Dalice&st=Old\(LinkFixture.apps)"
      let link = try await fixture.create(query).record
      let copied = try await fixture.clipboard(link)
      #expect(try fixture.links.entry(link.key)?.desktop.url == "https://acme.test/old?invitedby=alice")
      let edit = LinkEdit(
        name: "Summer",
        parameters: [.link: "https://acme.test/new?invitedby=bob", .socialTitle: nil, .androidMinimumVersion: "x"])
      let edited = try await fixture.links.edit(link.key, edit: edit, actor: Self.ann)
      #expect(edited.record.name == "Summer" && edited.record.changedAt == LinkFixture.start)
      #expect(edited.record.address == link.address && edited.record.code == link.code)
      #expect(edited.warnings == [.notANumber(.androidMinimumVersion)])
      #expect(try fixture.links.entry(link.key)?.desktop.url == "https://acme.test/new?invitedby=bob")
      #expect(try await deepLink(fixture, copied) == "https://acme.test/new?invitedby=bob")
      #expect(try await claim(fixture, .code(try #require(link.code))).inviter == "bob")
      // A request for what it said before gets a link that says it.
      let again = try await fixture.create(query)
      #expect(again.record.key != link.key && !again.isRepeated)
      #expect(try fixture.links.entry(again.record.key)?.desktop.url == "https://acme.test/old?invitedby=alice")
      let unnamed = try await fixture.links.edit(link.key, edit: LinkEdit(name: .some(nil)), actor: Self.ann)
      #expect(unnamed.record.name == nil)
    }
  }

  @Test("what a link may not say it cannot be made to say")
  func refusals() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create("link=https://acme.test/a").record
      for (parameters, text) in [
        ([LinkParameter.link: "https://evil.test/"], "We could not match param 'link'"),
        ([.link: nil], "Link parameter is missing"), ([.iosScheme: "javascript"], "cannot open an app"),
      ] as [([LinkParameter: String?], String)] {
        do {
          _ = try await fixture.links.edit(link.key, edit: LinkEdit(parameters: parameters), actor: Self.ann)
          Issue.record("\(parameters) was accepted")
        } catch LinkError.invalid(let message) {
          #expect(message.contains(text))
        }
      }
      let unknown = LinkError.unknownShortLink(key: "go.acme.test/r/none")
      await #expect(throws: unknown) { try await fixture.links.edit("go.acme.test/r/none", edit: LinkEdit(), actor: Self.ann) }
      await #expect(throws: unknown) { try await fixture.links.delete("go.acme.test/r/none", actor: Self.ann) }
      #expect(try fixture.links.entry(link.key)?.record == link)
    }
  }

  @Test("a link that is switched off is not opened, attributed or claimed, and can come back")
  func disable() async throws {
    try await LinkFixture.run { fixture in
      let query = "link=https://acme.test/a?invitedby%3Dalice\(LinkFixture.apps)"
      let link = try await fixture.create(query).record
      let copied = try await fixture.clipboard(link)
      let disabled = try await fixture.links.edit(link.key, edit: LinkEdit(isDisabled: true), actor: Self.ann).record
      #expect(disabled.disabledAt == LinkFixture.start)
      let entry = try #require(try fixture.links.entry(link.key))
      #expect(entry.isDisabled && entry.error == .disabled)
      #expect(try await deepLink(fixture, copied) == nil)
      await #expect(throws: LinkError.unknownLink(link.address)) {
        try await fixture.links.attribution.reopen(link.address, bundleID: "test.acme.ios")
      }
      await #expect(throws: LinkError.unknownCode) { try await claim(fixture, .code(try #require(link.code))) }
      await #expect(throws: LinkError.badProof) { try await claim(fixture, .link(copied)) }
      // Nobody is handed a link that opens nothing.
      await #expect(throws: LinkError.duplicateIsDisabled(address: link.address)) { try await fixture.create(query) }
      let enabled = try await fixture.links.edit(link.key, edit: LinkEdit(isDisabled: false), actor: Self.ann).record
      #expect(enabled.disabledAt == nil)
      #expect(try fixture.links.entry(link.key)?.desktop.url == "https://acme.test/a?invitedby=alice")
      #expect(try await deepLink(fixture, copied) == "https://acme.test/a?invitedby=alice")
    }
  }

  @Test(
    "The long link that says the same is off with an administrator's link; one that says anything else, and a player's, stays")
  func disabledForms() async throws {
    try await LinkFixture.run { fixture in
      let query = "link=https://acme.test/a\(LinkFixture.apps)"
      func isDisabled(_ query: String) throws -> Bool {
        let draft = try fixture.draft(query)
        return try fixture.links.isDisabled(draft.parameters, below: draft.prefix)
      }
      let link = try await fixture.create(query).record
      // Another spelling, another order, and what is no part of a link.
      let same = "ibi=test.acme.ios&link=https%3A%2F%2Facme.test%2Fa&apn=test.acme.app&foo=1"
      let other = query + "&st=Hello"
      let copied = try await fixture.clipboard(long: query)
      #expect(!fixture.links.hasDisabledForms)
      _ = try await fixture.links.edit(link.key, edit: LinkEdit(isDisabled: true), actor: Self.ann)
      #expect(try isDisabled(query) && isDisabled(same) && !isDisabled(other))
      #expect(try await deepLink(fixture, copied) == nil)
      // What says something else now is on, what it said before too.
      _ = try await fixture.links.edit(link.key, edit: LinkEdit(parameters: [.socialTitle: "Hello"]), actor: Self.ann)
      #expect(try !isDisabled(query) && isDisabled(other))
      // A second one that says the same and is off keeps it off.
      let second = try await fixture.create(other, option: .custom, suffix: "poster", isAdmin: true).record
      _ = try await fixture.links.edit(second.key, edit: LinkEdit(isDisabled: true), actor: Self.ann)
      _ = try await fixture.links.edit(link.key, edit: LinkEdit(isDisabled: false), actor: Self.ann)
      #expect(try isDisabled(other))
      _ = try await fixture.links.delete(second.key, actor: Self.ann)
      #expect(try !isDisabled(other))
      #expect(try await deepLink(fixture, copied) == "https://acme.test/a")
      // Of a player's link only the short form is the player's.
      let own = try await fixture.create(query, owner: "alice").record
      #expect(own.key != link.key)
      _ = try await fixture.links.edit(own.key, edit: LinkEdit(isDisabled: true), actor: Self.ann)
      #expect(try fixture.links.entry(own.key)?.isDisabled == true)
      #expect(try !isDisabled(query))
    }
  }

  @Test("a deleted link is gone for good with its code; its suffix comes back only if an administrator chooses it")
  func delete() async throws {
    try await LinkFixture.run { fixture in
      let query = "link=https://acme.test/a?invitedby%3Dalice\(LinkFixture.apps)"
      let link = try await fixture.create(query).record
      let copied = try await fixture.clipboard(link)
      #expect(try await fixture.links.delete(link.key, actor: Self.ann) == link)
      #expect(try fixture.links.entry(link.key) == nil && fixture.links.wasDeleted(link.key))
      #expect(try await deepLink(fixture, copied) == nil)
      await #expect(throws: LinkError.unknownCode) { try await claim(fixture, .code(try #require(link.code))) }
      await #expect(throws: LinkError.badProof) { try await claim(fixture, .link(copied)) }
      await #expect(throws: LinkError.unknownShortLink(key: link.key)) {
        try await fixture.links.delete(link.key, actor: Self.ann)
      }
      #expect(try fixture.links.directory.links(limit: 10).links.isEmpty)
      #expect(try await fixture.create(query).record.key != link.key)
      let suffix = String(link.key.suffix(17))
      let chosen = try await fixture.create("link=https://acme.test/b", option: .custom, suffix: suffix, isAdmin: true)
      #expect(chosen.record.key == link.key)
      #expect(try !fixture.links.wasDeleted(link.key))
      #expect(try fixture.links.entry(link.key)?.desktop.url == "https://acme.test/b")
    }
  }

  @Test("a link takes the name that an administrator gives last, and keeps it when an app asks for the same link")
  func name() async throws {
    try await LinkFixture.run { fixture in
      func named(_ name: String) async throws -> LinkRecord {
        var draft = try fixture.draft("link=https://acme.test/a")
        draft.name = name
        return try await fixture.links.create(draft, isAdmin: true, actor: Self.ann).record
      }
      let plain = try await fixture.create("link=https://acme.test/a").record
      let first = try await named("Poster")
      #expect(first.name == "Poster" && first.key == plain.key)
      #expect(try await named("Flyer").name == "Flyer")
      let again = try await fixture.create("link=https://acme.test/a")
      #expect(again.isRepeated && again.record.name == "Flyer" && again.record.key == plain.key)
    }
  }

  @Test("what the settings forbid later is not opened any more; what they allow again is")
  func settingsChange() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create("link=https://shop.acme.test/a").record
      #expect(try fixture.links.entry(link.key)?.error == nil)
      let narrow = LinkFixture.settings.replacing("\"apiKeys\"", with: #""allowPatterns":["^https://acme\\.test/"],"apiKeys""#)
      try await fixture.links.put(try LinkSettings(document: narrow))
      guard case .invalid = try fixture.links.entry(link.key)?.error else { throw Unexpected("it is allowed") }
      try await fixture.links.put(try LinkSettings(document: LinkFixture.settings))
      #expect(try fixture.links.entry(link.key)?.error == nil)
    }
  }
}
