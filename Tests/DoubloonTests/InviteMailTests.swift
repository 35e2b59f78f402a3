import Foundation
import ServerTestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Invitations that the server mails in a player's name.
@Suite(.timeLimit(.minutes(5))) struct InviteMailTests {
  private static let settings = """
    {"appName":"Acme","campaigns":{"default":{
      "link":"https://go.acme.test/r/?link=https://acme.test/play&apn=test.acme.app&ibi=test.acme.ios"}}}
    """

  @Test("a player whose address is confirmed has an invitation mailed; an address of the web in it is refused with a sentence")
  func mailed() async throws {
    try await AppServer.run { server in
      let put = try await server.api.send("PUT", "/admin/v1/invites/settings", Self.settings, headers: APIServer.admin)
      #expect(put.status == 200, "\(put.body)")
      let app = server.app()
      let user = try await app.authentication.createUser(withEmail: "ann@acme.test", password: "secret1").user
      let invites = Invites.invites(app: app)
      let early = await failure { _ = try await invites.send(channel: .email, to: "bob@acme.test") }
      #expect((early as? DynamicLinksError)?.remoteStatus == "PERMISSION_DENIED")
      let made = try await server.identity.admin("accounts:update", ["localId": .string(user.uid), "emailVerified": true])
      #expect(made.status == 200)
      let sent = try await invites.send(channel: .email, to: "bob@acme.test", locale: "en", message: "Play with me")
      #expect(!sent.id.isEmpty && !sent.state.isEmpty)
      #expect(sent.content.subject != nil && sent.content.link.absoluteString.hasPrefix("https://go.acme.test/r/"))
      let refused = await failure {
        _ = try await invites.send(channel: .email, to: "bob@acme.test", message: "See https://evil.example/x")
      }
      #expect((refused as? DynamicLinksError)?.message.contains("message") == true, "\(String(describing: refused))")
      let copied = try await invites.send(channel: .copy)
      #expect(copied.content.link.absoluteString.hasPrefix("https://go.acme.test/r/"))
    }
  }
}
