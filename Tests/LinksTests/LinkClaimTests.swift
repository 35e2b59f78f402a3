import Links
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Who invited whom: what is claimed, by what, and what is refused.
@Suite struct LinkClaimTests {
  static let query = "link=https://acme.test/?gameid%3D7%26invitedby%3Dalice&apn=test.acme.app&ibi=test.acme.ios"

  private func claim(_ fixture: LinkFixture, _ presented: LinkClaims.Presented, for player: String) async throws -> LinkClaim {
    try await fixture.links.claims.claim(presented, for: player, address: "192.0.2.7")
  }

  @Test("a proven click makes the server write who invited, once for the player and once for the click")
  func click() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      let copied = try await fixture.clipboard(link)
      let first = try await claim(fixture, .link(copied), for: "bob")
      #expect(first.player == "bob" && first.inviter == "alice" && first.link == link.key && first.at == LinkFixture.start)
      guard case .click(_, LinkFixture.start, .ios) = first.evidence else { throw Unexpected("\(first.evidence)") }
      #expect(try fixture.text("/users/bob/referred_by") == "alice")
      #expect(try await claim(fixture, .link(copied), for: "bob") == first, "the same answer again")
      #expect(try fixture.links.claims.claim(of: "bob") == first)
      await #expect(throws: LinkError.clickUsed) { try await claim(fixture, .link(copied), for: "carol") }
      #expect(try fixture.text("/users/carol/referred_by") == nil)
    }
  }

  @Test("the commit is the server's, and says which click it came from")
  func evidence() async throws {
    try await LinkFixture.run { fixture in
      let copied = try await fixture.clipboard(try await fixture.create(Self.query).record)
      let made = try await claim(fixture, .link(copied), for: "bob")
      guard case .click(let id, _, _) = made.evidence else { throw Unexpected("\(made.evidence)") }
      let namespace = try #require(fixture.database.namespace(named: "game"))
      let commit = try fixture.database.engine.read { snapshot in
        try snapshot.commits(in: namespace, after: .zero, limit: 10).last
      }
      #expect(commit?.actor == .system("links") && commit?.requestID == "click/\(id)")
    }
  }

  @Test("the referrer of Google's store proves a click as well; any other text does not")
  func referrer() async throws {
    try await LinkFixture.run { fixture in
      let referrer = try await fixture.referrer(try await fixture.create(Self.query).record)
      let made = try await claim(fixture, .referrer(referrer), for: "bob")
      guard case .click(_, _, .android) = made.evidence else { throw Unexpected("\(made.evidence)") }
      #expect(made.inviter == "alice")
      await #expect(throws: LinkError.badReferrer) { try await claim(fixture, .referrer("utm_source=x"), for: "carol") }
    }
  }

  @Test("a code works however it is typed, for many players; guessing is slowed down")
  func code() async throws {
    try await LinkFixture.run { fixture in
      let code = try #require(try await fixture.create(Self.query).record.code)
      for (uid, typed) in [("bob", code), ("carol", " \(code.prefix(4).lowercased())-\(code.suffix(4)) ")] {
        let made = try await claim(fixture, .code(typed), for: uid)
        #expect(made.inviter == "alice" && made.evidence == .code(code))
      }
      for _ in 0..<5 {
        await #expect(throws: LinkError.unknownCode) { try await claim(fixture, .code("ZZZZZZZZ"), for: "dave") }
      }
      await #expect(throws: LinkError.tooManyCodes) { try await claim(fixture, .code("ZZZZZZZZ"), for: "dave") }
      fixture.clock.advance(by: 60_000)
      #expect(try await claim(fixture, .code(code), for: "dave").inviter == "alice")
    }
  }

  @Test("a link of a player's own invites for that player, whatever it says")
  func owner() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query, owner: "mallory").record
      #expect(try await claim(fixture, .link(try await fixture.clipboard(link)), for: "bob").inviter == "mallory")
    }
  }

  @Test("nobody invites themselves, the attempt is on record, and the click is not used up")
  func selfReferral() async throws {
    try await LinkFixture.run { fixture in
      let copied = try await fixture.clipboard(try await fixture.create(Self.query).record)
      await #expect(throws: LinkError.selfReferral) { try await claim(fixture, .link(copied), for: "alice") }
      #expect(try fixture.text("/users/alice/referred_by") == nil)
      let audits = try fixture.database.engine.read { snapshot in
        try snapshot.audits(before: nil, limit: 10).map(\.record)
      }
      #expect(audits.contains { $0.action == "links.self_referral" && $0.result == "refused" }, "\(audits)")
      #expect(try await claim(fixture, .link(copied), for: "bob").inviter == "alice")
    }
  }

  @Test("a player who was here before the invitation is not invited; a new player has a day")
  func existing() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      try await fixture.set("/users/bob/last_signin_at", .int(LinkFixture.start))
      fixture.clock.advance(by: 23 * 3_600_000)
      #expect(try await claim(fixture, .link(try await fixture.clipboard(link)), for: "bob").inviter == "alice")
      try await fixture.set("/users/carol/last_signin_at", .int(LinkFixture.start))
      fixture.clock.advance(by: 2 * 3_600_000)
      let copied = try await fixture.clipboard(link)
      await #expect(throws: LinkError.existingPlayer) { try await claim(fixture, .link(copied), for: "carol") }
    }
  }

  @Test("who plays for days is no new player by signing in again")
  func active() async throws {
    try await LinkFixture.run { fixture in
      let link = try await fixture.create(Self.query).record
      for hours in [0, 25, 20] {
        fixture.clock.advance(by: Int64(hours) * 3_600_000)
        try await fixture.set("/users/dave/last_signin_at", .int(fixture.clock.now()))
      }
      let copied = try await fixture.clipboard(link)
      await #expect(throws: LinkError.existingPlayer) { try await claim(fixture, .link(copied), for: "dave") }
      #expect(try fixture.text("/users/dave/referred_by") == nil)
    }
  }

  @Test("an inviter in the tree stays: a second one is refused, by the tree and by the record")
  func already() async throws {
    try await LinkFixture.run { fixture in
      try await fixture.set("/users/bob/referred_by", .string("zoe"))
      let link = try await fixture.create(Self.query).record
      let copied = try await fixture.clipboard(link)
      await #expect(throws: LinkError.alreadyReferred) { try await claim(fixture, .link(copied), for: "bob") }
      #expect(try fixture.text("/users/bob/referred_by") == "zoe")
      _ = try await claim(fixture, .link(copied), for: "carol")
      let other = try await fixture.create(Self.query, owner: "zoe").record
      let second = try await fixture.clipboard(other)
      await #expect(throws: LinkError.alreadyReferred) { try await claim(fixture, .link(second), for: "carol") }
    }
  }

  @Test("a link that names nobody, or nonsense, invites for nobody")
  func nobody() async throws {
    try await LinkFixture.run { fixture in
      for query in [
        "link=https://acme.test/&ibi=test.acme.ios", "link=https://acme.test/?invitedby%3Da%252Fb&ibi=test.acme.ios",
      ] {
        let copied = try await fixture.clipboard(try await fixture.create(query).record)
        await #expect(throws: LinkError.noInviter) { try await claim(fixture, .link(copied), for: "bob") }
      }
    }
  }

  @Test(
    "what proves nothing changes nothing",
    arguments: [
      (LinkClaims.Presented.link("https://go.acme.test/r/none?cid=x"), LinkError.badProof), (.link("a"), .badProof),
      (.link("https://evil.test/?cid=x"), .badProof), (.referrer("utm_source=x"), .badReferrer), (.code("!"), .unknownCode),
    ])
  func nothing(_ presented: LinkClaims.Presented, _ error: LinkError) async throws {
    try await LinkFixture.run { fixture in
      await #expect(throws: error) { try await claim(fixture, presented, for: "bob") }
      await #expect(throws: LinkError.self) { try await claim(fixture, presented, for: "b/c") }
      let inviter = try fixture.text("/users/bob/referred_by")
      #expect(inviter == nil)
    }
  }
}
