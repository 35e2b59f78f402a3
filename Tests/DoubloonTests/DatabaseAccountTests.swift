import Foundation
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

@testable import Doubloon

/// The player of the socket: what rules see of an account while it changes.
@Suite(.timeLimit(.minutes(5))) struct DatabaseAccountTests {
  @Test("a linked address is seen by the rules of the same socket, when the link is done")
  func link() async throws {
    try await AppServer.run { server in
      try await server.api.setRules(#"{".read": "auth.token.email == 'ann@acme.test'"}"#)
      let app = server.app()
      let user = try await app.authentication.signInAnonymously().user
      let database = Doubloon.Database.database(app: app)
      let connections = Heard<Bool>()
      database.reference(withPath: ".info/connected").observe(.value) { connections.add($0.bool ?? false) }
      let denied = await failure { _ = try await database.reference(withPath: "x").getData(source: .server) }
      #expect(number(of: denied) == 1)
      try await user.link(with: EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret1"))
      let snapshot = try await database.reference(withPath: "x").getData(source: .server)
      #expect(!snapshot.exists())
      #expect(connections.all == [false, true], "the socket is the same")
      database.goOffline()
    }
  }

  @Test("a token that ends while somebody listens is refreshed once, and the listener goes on")
  func expiry() async throws {
    try await AppServer.run { server in
      try await server.api.setRules(#"{".read": "auth != null"}"#)
      let http = server.counting()
      let app = server.app(http: http)
      try await app.authentication.signInAnonymously()
      let database = Doubloon.Database.database(app: app)
      let heard = Heard<String>()
      let cancelled = Heard<Int>()
      database.reference(withPath: "x").observe(.value) {
        heard.add($0.text)
      } withCancel: {
        cancelled.add(($0 as NSError).code)
      }
      _ = await heard.first(1)
      http.forget()
      server.api.clock.advance(by: 61 * 60_000)
      server.clock.move(61 * 60)
      try await reached { http.targets == ["/v1/token"] }
      _ = try await server.api.send("PUT", "/x.json", "1", headers: APIServer.admin)
      #expect(await heard.first(2) == ["null", "1"])
      #expect(http.targets == ["/v1/token"])
      #expect(cancelled.all == [])
      database.goOffline()
    }
  }

  @Test("who signs out is told with code 1 of every listen that was only for players")
  func signOut() async throws {
    try await AppServer.run { server in
      try await server.api.setRules(#"{"open": {".read": true}, "players": {".read": "auth != null"}}"#)
      let app = server.app()
      try await app.authentication.signInAnonymously()
      let database = Doubloon.Database.database(app: app)
      let (heard, cancelled) = (Heard<String>(), Heard<Int>())
      for path in ["open", "players"] {
        database.reference(withPath: path).observe(.value) {
          heard.add($0.text)
        } withCancel: {
          cancelled.add(($0 as NSError).code)
        }
      }
      _ = await heard.first(2)
      try app.authentication.signOut()
      #expect(await cancelled.first(1) == [1])
      _ = try await server.api.send("PUT", "/players.json", "1", headers: APIServer.admin)
      _ = try await server.api.send("PUT", "/open.json", "2", headers: APIServer.admin)
      #expect(await heard.first(3) == ["null", "null", "2"])
      #expect(cancelled.all == [1])
      database.goOffline()
    }
  }

  @Test(
    "a clock that is wrong by decades costs nothing: the player signs in, writes, and reads the server's time",
    arguments: [-1.6e9, 3e9])
  func wrongClock(seconds: Double) async throws {
    try await AppServer.run { server in
      server.clock.move(seconds)
      let app = server.app()
      let user = try await app.authentication.signInAnonymously().user
      _ = try await user.getIDToken(forcingRefresh: true)
      let ref = Doubloon.Database.database(app: app).reference(withPath: "at")
      try await ref.setValue(Doubloon.ServerValue.timestamp())
      let snapshot = try await ref.getData(source: .server)
      #expect(snapshot.double == Double(APIServer.start))
      Doubloon.Database.database(app: app).goOffline()
    }
  }
}
