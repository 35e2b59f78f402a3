import Messages
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What players do over a socket becomes events for campaigns: once, and only where one waits.
@Suite struct CauseTests {
  private func publish(_ names: String..., on api: APIServer) async throws {
    for name in names {
      let document: JSON = [
        "id": .string(name), "name": "A test", "layout": "modal", "triggers": .array([["server": .string(name)]]),
        "content": ["defaultLanguage": "en", "texts": ["en": ["title": "It happened"]]],
      ]
      let campaign = try await api.messages.create(document, by: .admin("test"))
      _ = try await api.messages.publish(campaign.id, by: .admin("test"))
    }
  }

  @Test("a claim tells who came and who invited, each once; where no campaign waits it tells nobody")
  func claims() async throws {
    try await LinkServer.run { server in
      let (_, created) = try await server.create(
        "link=https://acme.test/?gameid%3D7%26invitedby%3Dalice&apn=test.acme.app&ibi=test.acme.ios")
      let body = "{\"code\":\(JSON.string(try #require(created["code"]?.string)).compactText)}"
      func claim(as uid: String) async throws {
        let answer = try await server.post("/v1/referrals:claim", body, key: nil, headers: LinkServer.token(uid))
        #expect(answer.status == 200, "\(answer.json.compactText)")
      }
      func told(_ uid: String) throws -> [String] {
        try server.api.messages.events(of: uid).map { "\($0.name) \(JSON.object($0.parameters).compactText)" }
      }
      try await claim(as: "early")
      #expect(try told("early").isEmpty && told("alice").isEmpty)
      try await publish("referral_claimed", "friend_joined", on: server.api)
      for _ in 0..<2 { try await claim(as: "bob") }
      try await claim(as: "early")
      let (came, invited) = (try told("bob"), try told("alice"))
      #expect(came.count == 1 && came.first?.hasPrefix(#"referral_claimed {"inviter":"alice""#) == true, "\(came)")
      #expect(invited.count == 1 && invited.first?.hasPrefix(#"friend_joined {"invitee":"bob""#) == true, "\(invited)")
      try await claim(as: "carol")
      #expect(try told("alice").count == 2, "each friend is one")
    }
  }

  @Test("an anonymous account that gets a password says so once, under the same uid")
  func linking() async throws {
    try await APIServer.run(accounts: .development) { api in
      let client = IdentityClient(server: api)
      func link(_ email: String) async throws -> String {
        let player = try await client.anonymous()
        let linked = try await client.link(player.text("idToken"), email)
        #expect(linked.status == 200 && linked.text("localId") == player.text("localId"), "\(linked.json.compactText)")
        return player.text("localId")
      }
      let early = try await link("early@x.io")
      try await publish("account_linked", on: api)
      let uid = try await link("bob@x.io")
      let renamed = try await client.admin("accounts:update", ["localId": .string(uid), "displayName": "Bob"])
      #expect(renamed.status == 200, "\(renamed.json.compactText)")
      let event = try #require(try api.messages.events(of: uid).first)
      #expect(try api.messages.events(of: uid).count == 1 && api.messages.events(of: early).isEmpty)
      #expect(JSON.object(event.parameters).compactText == #"{"provider":"password","wasAnonymous":true}"#)
    }
  }
}
