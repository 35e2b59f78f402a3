import Accounts
import DoubloonTesting
import FunctionsKit
import Links
import Logging
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// Which anonymous accounts go, and what functions hear of accounts that are brought.
struct AccountSweepTests {
  private func call(_ server: TestServer, _ fields: JSON, isPrivileged: Bool = false) throws -> IdentityCall {
    let namespace = try #require(server.application.database.namespace(named: "test-default-rtdb"))
    return IdentityCall(
      project: AccountProject(name: "test", namespace: namespace), fields: IdentityFields(fields),
      isPrivileged: isPrivileged, actor: isPrivileged ? .admin("test") : .anonymous, address: "test",
      base: "http://localhost", apiKey: "k")
  }

  @Test("An account stays whose player was invited, wherever the link settings have that written; others go in time")
  func referral() async throws {
    try await TestServer.run({ _ in }) { server in
      let application = server.application
      try await application.links.put(
        try LinkSettings(
          document: #"{"referral":{"path":"/invited/{uid}/by","signedInPath":"/users/{uid}/last_signin_at"}}"#))
      var uids: [String] = []
      for _ in 0..<3 {
        uids.append(try #require(try await application.accounts.signUp(call(server, [:]))["localId"]?.string))
      }
      _ = try await server.set(Path(parsing: "/invited/\(uids[0])/by"), TreeNode.leaf(.string("alice")), as: .admin)
      // Not where these settings have it.
      _ = try await server.set(Path(parsing: "/users/\(uids[1])/referred_by"), TreeNode.leaf(.string("alice")), as: .admin)
      server.clock.advance(by: 31 * 86_400_000)
      let sweeper = AccountSweeper(
        book: application.accounts, engine: application.engine, currencies: application.configuration.currencies,
        referral: { application.links.settings.referral.path }, clock: server.clock,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      await sweeper.sweep()
      let project = try call(server, [:]).project
      var stayed: [Bool] = []
      for uid in uids { stayed.append(try application.accounts.account(uid, of: project) != nil) }
      #expect(stayed == [true, false, false])
    }
  }

  @Test("Functions hear nothing of accounts that are imported, unless the import says so")
  func imports() async throws {
    let notes = TreePath<Bool, UserID>("/welcomed/{uid}")
    try await TestServer.run({ functions in
      functions.onAccountCreated(name: "welcome") { event, context in
        try await context.set(notes, event.account.uid, to: true)
        return .done
      }
    }) { server in
      let accounts = server.application.accounts
      let users: JSON = [["localId": "old1"], ["localId": "old2", "email": "old2@x.io"]]
      _ = try await accounts.batchCreate(call(server, ["users": users], isPrivileged: true))
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/welcomed")).exists == false)
      let project = try call(server, [:]).project
      #expect(try accounts.account("old2", of: project)?.email == "old2@x.io")
      _ = try await accounts.batchCreate(
        call(server, ["users": [["localId": "new1"]], "triggers": true], isPrivileged: true))
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/welcomed")).children.map(\.key.text) == ["new1"])
    }
  }
}
