import Dispatch
import Doubloon
import Foundation
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// A game that knows nothing but the library: two players, one invites the other, both are paid, and each sees it.
@Suite(.serialized) struct ClientLibraryTests {
  private static let settings: JSON = [
    "domains": ["https://go.acme.test/r"], "hosts": ["acme.test"],
    "apps": ["ios": [["bundleId": "test.acme.ios", "appStoreId": "900100200"]]], "apiKeys": ["web-key-1"],
  ]

  /// The same declaration as a function's.
  private static let coins = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")

  private static func app(_ name: String, _ server: RunningServer) throws -> DoubloonApp {
    let options = FirebaseOptions(server: try #require(URL(string: server.address)), apiKey: "web-key-1")
    options.storageFolder = server.folder.file(name)
    options.bundleID = "test.acme.ios"
    options.callbackQueue = DispatchQueue(label: name)
    options.logHandler = { _ in }
    DoubloonApp.configure(name: name, options: options)
    return try #require(DoubloonApp.app(name: name))
  }

  @Test("a player invites, a friend claims and plays, both are paid, and the inviter sees whom they brought")
  func wholeWay() async throws {
    try await RunningServer.run { server in
      _ = try await server.client.put("/admin/v1/links/settings", Self.settings)
      let (alice, bob) = (try Self.app("alice", server), try Self.app("bob", server))
      let inviter = try await Auth.auth(app: alice).signInAnonymously().user
      let long = "https://go.acme.test/r/?link=https://acme.test/?invitedby=\(inviter.uid)&ibi=test.acme.ios"
      let made = try await server.player.post(
        "/v1/shortLinks", ["longDynamicLink": .string(long)], query: [QueryItem("key", "web-key-1")])
      let code = try #require(made["code"]?.string)

      let start = try await Referrals.referrals(app: bob).begin(proof: .code(code))
      #expect(start.claim?.referredBy == inviter.uid, "\(start.claimProblem ?? "")")
      let me = Database.database(app: bob).reference(withPath: "users").child(start.user.uid)
      try await me.child("last_signin_at").setValue(Doubloon.ServerValue.timestamp())
      for level in 1...5 { try await me.child("level").setValue(level) }
      _ = try await server.client.post("/admin/v1/drain")

      for (app, uid) in [(alice, inviter.uid), (bob, start.user.uid)] {
        let player = try #require(UserID(uid))
        // A listener waits for the connection for as long as it takes; a read would be given up.
        var values = Database.database(app: app).reference(to: Self.coins, player).values.makeAsyncIterator()
        #expect(try await values.next() == .some(50))
      }
      let own = try await Referrals.referrals(app: alice).own()
      #expect(own.referrals.map(\.player) == [start.user.uid] && own.referredBy == nil)
      #expect(own.referrals.first?.coins.values.reduce(0, +) == 50, "\(own)")
      let theirs = try await Referrals.referrals(app: bob).own()
      #expect(theirs.referredBy == inviter.uid && theirs.referrals.isEmpty)
      for app in [alice, bob] {
        Database.database(app: app).goOffline()
        await app.delete()
      }
    }
  }
}
