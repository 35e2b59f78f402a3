import Accounts
import DoubloonTesting
import Functions
import FunctionsKit
import StorageCore
import Testing
import TreeDatabase
import TreeModel

@testable import ServerApp

/// Functions that run when accounts come, get an identity, and go.
struct AccountTriggerTests {
  private enum Coins {
    static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
    static let notes = TreePath<String, UserID>("/notes/{uid}")
  }

  private static func register(_ functions: Functions) {
    functions.onAccountCreated(name: "welcome") { event, context in
      try await context.set(Coins.notes, event.account.uid, to: event.account.isAnonymous ? "anonymous" : "known")
      return .done
    }
    functions.onAccountLinked(name: "linkReward") { event, context in
      guard event.wasAnonymous else { return .skipped("not_anonymous") }
      try await context.credit(
        Coins.gold, event.account.uid, amount: 20, code: "link", once: "link/\(event.account.uid)")
      return .done
    }
    functions.onAccountDeleted(name: "farewell") { event, context in
      try await context.set(Coins.notes, event.account.uid, to: "gone: \(event.account.email ?? "nobody")")
      return .done
    }
  }

  private func call(_ server: TestServer, _ fields: JSON) throws -> IdentityCall {
    let namespace = try #require(server.application.database.namespace(named: "test-default-rtdb"))
    return IdentityCall(
      project: AccountProject(name: "test", namespace: namespace), fields: IdentityFields(fields), isPrivileged: false,
      actor: .anonymous, address: "test", base: "http://localhost", apiKey: "k")
  }

  @Test("Where a referrer must have an account, one without is not paid, one with is")
  func requiredAccount() async throws {
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "account"]]
    try await TestServer.run(registerFunctions, settings: settings) { server in
      let made = try await server.application.accounts.signUp(call(server, [:]))
      let uid = try #require(made["localId"]?.string)
      for (player, referrer) in [("bob", "ghost"), ("carl", uid)] {
        try await server.set(Path(parsing: "/users/\(player)"), ["level": 4, "referred_by": .leaf(.string(referrer))])
        let write = try await server.set(Path(parsing: "/users/\(player)/level"), 5)
        let expected: TestWrite.Ending = referrer == uid ? .done : .skipped("unknown_referrer")
        #expect(write.outcomes == ["rewardReferrals": expected])
      }
      #expect(try await server.balance(Path(parsing: "/users/\(uid)/inventory/pieces_of_eight")) == 50)
      try await server.expectEntries(1)
    }
  }

  @Test("An account's events run functions once each; coins, log and tree know nothing else of it")
  func life() async throws {
    try await TestServer.run(Self.register) { server in
      let accounts = server.application.accounts
      let made = try await accounts.signUp(call(server, [:]))
      let uid = try #require(made["localId"]?.string)
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/notes/\(uid)")).scalar?.stringValue == "anonymous")
      let linked = try await accounts.signUp(
        call(server, ["idToken": made["idToken"] ?? .null, "email": "jim@x.io", "password": "secret1"]))
      try await server.application.settle()
      #expect(try await server.balance(Path(parsing: "/users/\(uid)/inventory/pieces_of_eight")) == 20)
      // Not again: the key was paid, whatever is linked next.
      _ = try await accounts.update(call(server, ["idToken": linked["idToken"] ?? .null, "deleteProvider": ["password"]]))
      let again = try await accounts.signUp(
        call(server, ["idToken": linked["idToken"] ?? .null, "email": "jim@x.io", "password": "secret1"]))
      try await server.application.settle()
      #expect(try await server.balance(Path(parsing: "/users/\(uid)/inventory/pieces_of_eight")) == 20)
      _ = try await accounts.delete(call(server, ["idToken": again["idToken"] ?? .null]))
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/notes/\(uid)")).scalar?.stringValue == "gone: jim@x.io")
      // The tree itself shows nothing of accounts.
      let root = try await server.node(Path.root)
      #expect(root.children.map(\.key.text) == ["notes", "users"])
    }
  }

  @Test("After a restart the account, its session and its tree are as they were")
  func restart() async throws {
    try await TestServer.run(Self.register) { server in
      let made = try await server.application.accounts.signUp(call(server, [:]))
      try await server.restart()
      let refreshed = try await server.application.accounts.refresh(
        call(server, ["grantType": "refresh_token", "refreshToken": made["refreshToken"] ?? .null]))
      #expect(refreshed["user_id"] == made["localId"])
    }
  }
}
