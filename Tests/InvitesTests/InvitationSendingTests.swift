import Invites
import MailContent
import StorageCore
import Testing
import TreeDatabase
import TreeModel

/// Sending invitations: limits, who wants none, and how far they came.
@Suite struct InvitationSendingTests {
  @Test("a mail is recorded and put into the outbox, both or neither")
  func mail() async throws {
    try await InvitationFixture.run { fixture in
      let record = try await fixture.send("bob@example.com")
      #expect(record.recipient == "bob@example.com" && record.createdAt == InvitationFixture.start)
      let mails = try fixture.mails()
      #expect(mails.map(\.to) == ["bob@example.com"] && mails.map(\.kind) == [.invite])
      #expect(mails.first?.subject == "Alice <b> wants you to play Acme" && mails.first?.fromName == "Acme")
      #expect(mails.first?.unsubscribe == "https://go.acme.test/unsubscribe")
      let status = try #require(try fixture.invitations.invitation(record.id))
      #expect(status.state == .queued && status.record == record && status.marks.isEmpty)
      #expect(try fixture.invitations.invitation("none") == nil)
      await #expect(throws: InvitationError.self) {
        try await fixture.invitations.send(
          InvitationDraft(
            id: record.id, content: fixture.content(.email), campaign: "default", locale: "en", sender: "alice",
            recipient: "carl@example.com", unsubscribe: nil))
      }
      #expect(try fixture.mails().count == 1, "an invitation of this id is there")
    }
  }

  @Test("limits: of the sender by day, of the recipient by week, however the address is spelt")
  func limits() async throws {
    try await InvitationFixture.run { fixture in
      for name in 0..<20 { try await fixture.send("p\(name)@example.com") }
      await #expect(throws: InvitationError.tooManyFromSender(max: 20)) { try await fixture.send("late@example.com") }
      fixture.clock.advance(by: 86_400_001)
      try await fixture.send("late@example.com")
      for (uid, spelling) in [("b", "LATE@example.com"), ("c", "late+1@example.com")] {
        try await fixture.send(spelling, as: uid)
      }
      await #expect(throws: InvitationError.tooManyToRecipient(max: 3)) {
        try await fixture.send("late+2@example.com", as: "d")
      }
      fixture.clock.advance(by: 7 * 86_400_000 + 1)
      try await fixture.send("late@example.com", as: "d")
    }
  }

  @Test("a recipient who asks for it gets no more invitations, in any spelling, until an administrator releases the address")
  func suppression() async throws {
    try await InvitationFixture.run { fixture in
      let record = try await fixture.send("carl+x@example.com")
      #expect(try await fixture.invitations.unsubscribe(record.id) == "carl+x@example.com")
      #expect(try await fixture.invitations.unsubscribe("none") == nil)
      for spelling in ["carl+x@example.com", "carl@example.com", "CARL+y@example.com"] {
        await #expect(throws: InvitationError.suppressed) { try await fixture.send(spelling, as: "bob") }
      }
      let all = try fixture.invitations.suppressed(after: nil, limit: 10)
      #expect(all.map(\.address) == ["carl@example.com"] && all.map(\.at) == [InvitationFixture.start])
      #expect(all.first?.reason == "unsubscribed by invitation \(record.id)")
      #expect(try fixture.invitations.suppressed(after: "carl@example.com", limit: 10).isEmpty)
      try await fixture.invitations.release("carl@example.com")
      try await fixture.send("carl@example.com", as: "bob")
      await #expect(throws: InvitationError.self) { try await fixture.invitations.suppress("nobody", because: "x") }
    }
  }

  @Test(
    "what is no plain address gets no mail",
    arguments: [
      "", "bob", "bob@", "@example.com", "bob@example", "a@b.c\r\nBcc: x@y.z", "Bob <bob@example.com>", "a@b.c,d@e.f",
      "a b@example.com", "bob@exa mple.com", "\"a\"@example.com", "bob..x@example.com", "bob@-x.com", "bób@example.com",
    ])
  func addresses(_ address: String) async throws {
    try await InvitationFixture.run { fixture in
      await #expect(throws: InvitationError.self) { try await fixture.send(address) }
      let mails = try fixture.mails()
      #expect(mails.isEmpty)
    }
  }

  @Test("an invitation goes from sent to opened to clicked to converted, by its marks; the newest comes first")
  func life() async throws {
    try await InvitationFixture.run { fixture in
      let namespace = try await fixture.database.openNamespace(named: "game")
      func send() async throws -> InvitationRecord {
        try await fixture.invitations.send(
          InvitationDraft(
            id: fixture.invitations.newID(), content: fixture.content(.share), campaign: "default", locale: "en",
            sender: "alice", recipient: nil, unsubscribe: nil))
      }
      let record = try await send()
      #expect(try fixture.invitations.invitation(record.id)?.state == .sent && fixture.mails().isEmpty)
      for (offset, state) in [InvitationState.opened, .clicked, .converted].enumerated() {
        var request = CommitRequest(namespace: namespace, actor: .system("test"))
        request.rows.records = [
          KeyedRecordChange(kind: "invite_mark", key: "\(record.id)/\(state.rawValue)", value: "{\"at\":\(offset)}")
        ]
        _ = try await fixture.database.commit(request)
        let status = try fixture.invitations.invitation(record.id)
        #expect(status?.state == state && status?.marks[state] == Int64(offset))
      }
      fixture.clock.advance(by: 1000)
      let second = try await send()
      #expect(try fixture.invitations.invitations(limit: 10).invitations.map(\.record.id) == [second.id, record.id])
      #expect(try fixture.invitations.invitations(before: second.id, limit: 10).invitations.map(\.record.id) == [record.id])
    }
  }
}
