import Links
import StorageCore
import Testing
import TreeModel

/// Links are found by inviter, campaign and text, and players by the link that they came by: also after edits, deletions,
/// other settings, and when the index was lost.
struct LinkIndexTests {
  private func suffixes(_ fixture: LinkFixture, _ filter: LinkDirectory.Filter) throws -> [String] {
    try fixture.links.directory.links(where: filter, limit: 50).links.map { String($0.key.split(separator: "/").last ?? "") }
  }

  private func populate(_ fixture: LinkFixture) async throws {
    for (suffix, query, owner) in [
      ("a", "link=https://acme.test/a&utm_campaign=sum/mer", "alice"), ("b", "link=https://acme.test/b?invitedby%3Dalice", nil),
      ("c", "link=https://acme.test/c&utm_campaign=sum/mer&st=Poster", nil), ("d", "link=https://acme.test/d?host%3Deve", nil),
      ("e", "link=https://acme.test/e&utm_campaign=sum", "ali"),
    ] {
      _ = try await fixture.create(query, option: .custom, suffix: suffix, owner: owner, isAdmin: true)
    }
  }

  @Test("Links are listed by inviter, campaign and text, exactly, and edits and deletions move them")
  func filters() async throws {
    try await LinkFixture.run { fixture in
      try await populate(fixture)
      #expect(try suffixes(fixture, .init(inviter: "alice")) == ["a", "b"])
      #expect(try suffixes(fixture, .init(inviter: "ali")) == ["e"])
      #expect(try suffixes(fixture, .init(campaign: "sum/mer")) == ["a", "c"])
      #expect(try suffixes(fixture, .init(campaign: "sum")) == ["e"])
      #expect(try suffixes(fixture, .init(inviter: "alice", campaign: "sum/mer")) == ["a"])
      #expect(try suffixes(fixture, .init(text: "pOsTer")) == ["c"])
      #expect(try suffixes(fixture, .init(text: "nothing")) == [])
      let key = "go.acme.test/r/b"
      _ = try await fixture.links.edit(
        key, edit: LinkEdit(parameters: [.link: "https://acme.test/?invitedby=carl"]), actor: .admin("t"))
      #expect(try suffixes(fixture, .init(inviter: "alice")) == ["a"])
      #expect(try suffixes(fixture, .init(inviter: "carl")) == ["b"])
      _ = try await fixture.links.delete("go.acme.test/r/a", actor: .admin("t"))
      #expect(try suffixes(fixture, .init(inviter: "alice")) == [])
      #expect(try suffixes(fixture, .init(campaign: "sum/mer")) == ["c"])
    }
  }

  @Test("Pages go on where they ended, and say how many links were looked at")
  func pages() async throws {
    try await LinkFixture.run { fixture in
      try await populate(fixture)
      let first = try fixture.links.directory.links(where: .init(campaign: "sum/mer"), limit: 1)
      #expect(first.links.map(\.key) == ["go.acme.test/r/a"] && first.next == "go.acme.test/r/a" && first.scanned == 1)
      let second = try fixture.links.directory.links(where: .init(campaign: "sum/mer"), after: first.next, limit: 5)
      #expect(second.links.map(\.key) == ["go.acme.test/r/c"] && second.next == nil)
      let none = try fixture.links.directory.links(where: .init(text: "nothing"), limit: 5)
      #expect(none.links.isEmpty && none.scanned == 5 && none.next == nil)
    }
  }

  @Test("Other parameters for inviters, and a lost index, make it again: it says the same as one that was kept")
  func building() async throws {
    try await LinkFixture.run { fixture in
      try await populate(fixture)
      let code = try #require(try fixture.links.record("https://go.acme.test/r/a")?.code)
      _ = try await fixture.links.claims.claim(.code(code), for: "bob", address: nil)
      func look() throws -> [[String]] {
        [
          try suffixes(fixture, .init(inviter: "alice")), try suffixes(fixture, .init(campaign: "sum/mer")),
          try suffixes(fixture, .init(inviter: "eve")),
          try fixture.links.directory.claims(by: ["go.acme.test/r/a"], orInviter: nil, limit: 10).map(\.player),
          try fixture.links.directory.claims(by: [], orInviter: "alice", limit: 10).map(\.player),
        ]
      }
      #expect(try look() == [["a", "b"], ["a", "c"], [], ["bob"], ["bob"]])
      #expect(try await fixture.links.directory.buildIndex() == false)
      // Lost whole, and with a wrong row in its place.
      let namespace = try #require(fixture.links.namespace)
      var request = CommitRequest(namespace: namespace, actor: .admin("t"))
      request.rows.records = [
        KeyedRecordChange(kind: "link_by_mark", key: "1", value: nil),
        KeyedRecordChange(kind: "link_by", key: "owner/alice/go.acme.test/r/a", value: nil),
        KeyedRecordChange(kind: "link_by", key: "owner/eve/go.acme.test/r/c", value: "true"),
      ]
      _ = try await fixture.database.commit(request)
      #expect(try await fixture.links.directory.buildIndex())
      #expect(try look() == [["a", "b"], ["a", "c"], [], ["bob"], ["bob"]])
      let other = LinkFixture.settings.replacing(
        "\"apiKeys\"", with: "\"referral\":{\"inviterParameters\":[\"host\"]},\"apiKeys\"")
      try await fixture.links.put(try LinkSettings(document: other))
      #expect(try look() == [["a"], ["a", "c"], ["d"], ["bob"], ["bob"]])
    }
  }
}
