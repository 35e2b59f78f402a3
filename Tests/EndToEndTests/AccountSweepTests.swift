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
  private func context(_ server: TestServer, administrator: StorageCore.Actor? = nil) throws -> AccountContext {
    let namespace = try #require(server.application.database.namespace(named: "test-default-rtdb"))
    return AccountContext(
      project: AccountProject(name: "test", namespace: namespace), administrator: administrator, network: "test")
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
        uids.append(try await application.accounts.signUpAnonymously(context(server)).account.uid)
      }
      _ = try await server.set(Path(parsing: "/invited/\(uids[0])/by"), TreeNode.leaf(.string("alice")), as: .admin)
      // Not where these settings have it.
      _ = try await server.set(Path(parsing: "/users/\(uids[1])/referred_by"), TreeNode.leaf(.string("alice")), as: .admin)
      server.clock.advance(by: 31 * 86_400_000)
      let sweeper = AccountSweeper(
        accounts: application.accounts, engine: application.engine, currencies: application.configuration.currencies,
        referral: { application.links.settings.referral.path }, clock: server.clock,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      await sweeper.sweep()
      let project = try context(server).project
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
      func bring(_ records: [AccountRecord], triggers: Bool) async throws {
        let rows = try records.enumerated().map { ($0.offset, try ImportedAccount($0.element, secondFactors: nil)) }
        let errors = try await accounts.importer.store(
          rows, overwrites: true, triggers: triggers, context: context(server, administrator: .admin("test")))
        #expect(errors.isEmpty)
      }
      var known = AccountRecord(uid: "old2", createdAt: 0)
      known.email = "old2@x.io"
      try await bring([AccountRecord(uid: "old1", createdAt: 0), known], triggers: false)
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/welcomed")).exists == false)
      let project = try context(server).project
      #expect(try accounts.account("old2", of: project)?.email == "old2@x.io")
      try await bring([AccountRecord(uid: "new1", createdAt: 0)], triggers: true)
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/welcomed")).children.map(\.key.text) == ["new1"])
    }
  }
}
