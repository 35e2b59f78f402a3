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

  private func context(_ server: TestServer) throws -> AccountContext {
    let namespace = try #require(server.application.database.namespace(named: "test-default-rtdb"))
    return AccountContext(project: AccountProject(name: "test", namespace: namespace), network: "test")
  }

  private func link(_ server: TestServer, _ player: SignedInAccount) async throws -> SignedInAccount {
    var order = PasswordSignUp(email: try #require(EmailAddress("jim@x.io")), password: "secret1")
    order.idToken = player.result.tokens?.idToken
    return try await server.application.accounts.signUp(order, context(server))
  }

  @Test("Where a referrer must have an account, one without is not paid, one with is")
  func requiredAccount() async throws {
    let settings: TreeNode = ["rewardReferrals": ["requireReferrer": "account"]]
    try await TestServer.run(registerFunctions, settings: settings) { server in
      let uid = try await server.application.accounts.signUpAnonymously(context(server)).account.uid
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
      let made = try await accounts.signUpAnonymously(context(server))
      let uid = made.account.uid
      try await server.application.settle()
      #expect(try await server.node(Path(parsing: "/notes/\(uid)")).scalar?.stringValue == "anonymous")
      let linked = try await link(server, made)
      try await server.application.settle()
      #expect(try await server.balance(Path(parsing: "/users/\(uid)/inventory/pieces_of_eight")) == 20)
      // Not again: the key was paid, whatever is linked next.
      var edits = AccountEdits()
      edits.deletedProviders = ["password"]
      _ = try await accounts.profiles.update(
        ProfileUpdate(idToken: linked.result.tokens?.idToken ?? "", edits: edits), context(server))
      let again = try await link(server, linked)
      try await server.application.settle()
      #expect(try await server.balance(Path(parsing: "/users/\(uid)/inventory/pieces_of_eight")) == 20)
      try await accounts.profiles.delete(idToken: again.result.tokens?.idToken, of: context(server).project)
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
      let made = try await server.application.accounts.signUpAnonymously(context(server))
      try await server.restart()
      let refreshed = try await server.application.accounts.refresh(
        made.result.tokens?.refreshToken ?? "", of: context(server).project)
      #expect(refreshed.uid == made.account.uid)
    }
  }
}
