import ServerTestSupport
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import HTTPServer

/// Mails that the server sends in players' names: who may have them sent, and what they can be made to say.
@Suite struct InvitationMailTests {
  /// A server with accounts, links and invitations.
  private func run(_ test: (LinkServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { api in
      for (path, body) in [("links", LinkServer.settings), ("invites", InvitationTests.settings)] {
        let put = try await api.send("PUT", "/admin/v1/\(path)/settings", body, headers: APIServer.admin)
        #expect(put.status == 200, "\(put.body)")
      }
      try await test(LinkServer(api: api), IdentityClient(server: api))
    }
  }

  private func send(
    _ server: LinkServer, _ token: String, to: String = "victim@example.com", channel: String = "email", more: String = "",
    headers: [String: String] = [:]
  ) async throws -> (status: Int, json: JSON) {
    let body = "{\"channel\":\"\(channel)\",\"to\":\"\(to)\",\"inviter\":\"Your Bank\"\(more)}"
    let headers = headers.merging(["Authorization": "Bearer \(token)"]) { given, _ in given }
    return try await server.post("/v1/invites:send", body, key: nil, headers: headers)
  }

  private func mails(_ server: LinkServer) throws -> Int {
    let namespace = try #require(server.api.database.namespace(named: "game"))
    return try server.api.database.engine.read { snapshot in
      try snapshot.outbox(in: namespace, state: .waiting, after: nil, limit: 100).count
    }
  }

  @Test("only who has a confirmed address, or an identity at a provider, has mails sent; everybody passes links on")
  func senders() async throws {
    try await run { server, client in
      let anonymous = try await client.anonymous().text("idToken")
      let unconfirmed = try await client.player("eve@x.io").text("idToken")
      for token in [anonymous, unconfirmed] {
        let (status, answer) = try await send(server, token)
        #expect(status == 403 && answer.compact.contains("unconfirmed"), "\(answer.compact)")
        for channel in ["copy", "share", "sms"] { #expect(try await send(server, token, channel: channel).status == 200) }
        let body = "{\"channel\":\"email\",\"inviter\":\"Eve\"}"
        let rendered = try await server.post("/invites/render", body, key: nil, headers: ["Authorization": "Bearer \(token)"])
        #expect(rendered.status == 200 && rendered.json["uri"]?.string?.hasPrefix("mailto:") == true)
      }
      #expect(try mails(server) == 0)
      // The account counts, not what an older token says of it.
      let uid = try await client.lookup(unconfirmed)["users"]?.array?.first?["localId"] ?? .null
      #expect(try await client.admin("accounts:update", ["localId": uid, "emailVerified": true]).status == 200)
      #expect(try await send(server, unconfirmed).status == 200)
      let google = try await client.provider(["sub": "g1", "email": "ann@x.io"]).text("idToken")
      #expect(try await send(server, google).status == 200)
      #expect(try mails(server) == 2)
    }
  }

  @Test("no address of the web or of mail gets into a mail by the player's words")
  func messages() async throws {
    try await run { server, client in
      let token = try await client.provider(["sub": "g1", "email": "ann@x.io", "name": "Ann"]).text("idToken")
      for message in [
        "See https://evil.example/x", "go to evil.com now", "write to me@evil.example", "www.evil.example", "10.0.0.1/a",
      ] {
        let (status, answer) = try await send(server, token, more: ",\"message\":\"\(message)\"")
        #expect(status == 400 && answer.compact.contains("message"), "\(message)")
      }
      #expect(try mails(server) == 0)
      let links = try await server.api.send("GET", "/admin/v1/links", headers: APIServer.admin)
      #expect(links.json?["links"]?.array?.isEmpty == true, "\(links.body)")
      let (status, json) = try await send(server, token, more: ",\"message\":\"Come on! It is 3.5 times the fun... ok?\"")
      #expect(status == 200 && json["content"]?["text"]?.string?.contains("3.5 times") == true, "\(json.compact)")
    }
  }

  @Test("mail and page speak the player's language, and the visible link takes the mailbox off the list")
  func languages() async throws {
    try await run { server, client in
      let token = try await client.provider(["sub": "g1", "email": "ann@x.io", "name": "Ann"]).text("idToken")
      let (_, json) = try await send(server, token, to: "bob+x@example.com", headers: ["X-Firebase-Locale": "de-AT"])
      #expect(json["content"]?["subject"]?.string == "Ann möchte mit dir Acme spielen")
      let text = try #require(json["content"]?["text"]?.string)
      let link = try #require(text.split(separator: "\n").last.map(String.init))
      #expect(link.hasPrefix("https://go.acme.test/v1/invites/") && link.hasSuffix("/unsubscribe?lang=de"), "\(text)")
      let path = String(link.dropFirst("https://go.acme.test".count))
      let page = try await server.api.send("GET", path, headers: ["Accept-Language": "fr"])
      #expect(page.body.contains("<html lang=\"de\">") && page.body.contains("Keine Einladungen mehr"))
      #expect(try await server.api.send("POST", path, "").body.contains("Diese Adresse bekommt keine Einladungen mehr."))
      for spelling in ["bob+x@example.com", "bob@example.com", "BOB+y@example.com"] {
        let (status, answer) = try await send(server, token, to: spelling)
        #expect(status == 400 && answer.compact.contains("suppressed"), "\(spelling)")
      }
    }
  }
}
