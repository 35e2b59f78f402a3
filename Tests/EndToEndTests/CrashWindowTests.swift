import Accounts
import DoubloonTesting
import Functions
import FunctionsKit
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeModel
import Triggers

@testable import ServerApp

/// The crash windows between an event and its effect: whatever the process was
/// doing when it died, after a restart the referrer has exactly 50.
struct CrashWindowTests {
  private static let bobAtFour: TreeNode = ["users": ["bob": ["level": 4, "referred_by": "alice"]]]
  private static let level: Path = "/users/bob/level"
  private static let gold: Path = "/users/alice/inventory/pieces_of_eight"

  @Test(
    "Dying between the commit of an event and the memory of its effect pays once",
    arguments: [
      .committedNotDispatched, .inHandler, .effectSubmitted, .effectDurable,
    ] as [Failpoint.Point])
  func windows(point: Failpoint.Point) async throws {
    try await TestServer.run(registerFunctions, tree: Self.bobAtFour) { server in
      try await server.crash(at: point) { try await server.set(Self.level, 5) }
      #expect(try await server.node(Self.level) == 5)
      #expect(try await server.balance(Self.gold) == 50)
      try await server.expectEntries(1)
    }
  }

  @Test(
    "Dying around the record of a failed attempt loses neither the event nor the payment",
    arguments: [.beforeAttemptRecord, .afterAttemptRecord] as [Failpoint.Point])
  func failedAttempt(point: Failpoint.Point) async throws {
    let failures = FailureBudget(1)
    let functions: @Sendable (Functions) -> Void = { functions in
      functions.onUpdate(Places.level, name: "pay") { event, context in
        if failures.spend() { throw TemporarilyBroken.notYet }
        try await context.credit(Places.gold, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await TestServer.run(functions, tree: Self.bobAtFour) { server in
      try await server.crash(at: point) { try await server.set(Self.level, 5) }
      try await server.advance(by: .seconds(60))
      #expect(try await server.balance(Places.gold, "bob") == 50)
      try await server.expectEntries(1)
    }
  }

  @Test(
    "W10: dying around the move to the dead letters leaves the event in one place, from where it is paid once",
    arguments: [.beforeAttemptRecord, .afterAttemptRecord] as [Failpoint.Point])
  func deadLetter(point: Failpoint.Point) async throws {
    let broken = Switch(true)
    let functions: @Sendable (Functions) -> Void = { functions in
      functions.onUpdate(Places.level, name: "pay", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) {
        event, context in
        if broken.isOn { throw TemporarilyBroken.notYet }
        try await context.credit(Places.gold, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await TestServer.run(functions, tree: Self.bobAtFour) { server in
      try await server.crash(at: point) { try await server.set(Self.level, 5) }
      let counts = try server.application.engine.read { [namespace = server.namespaceID] snapshot in
        let states: [DeliveryRecord.State] = [.waiting, .dead]
        var counts: [Int] = []
        for state in states {
          counts.append(try snapshot.deliveries(in: namespace, state: state, after: nil, limit: 9).count)
        }
        return counts
      }
      #expect(counts == [0, 1])
      try await server.expectEntries(0)
      broken.set(false)
      #expect(try await server.replay(server.order(.failed)).progress["outcomes"] == ["done": 1])
      #expect(try await server.balance(Places.gold, "bob") == 50)
      try await server.expectEntries(1)
    }
  }

  @Test(
    "Dying between the confirmation of an address and the release of what waited for it pays each reward once",
    arguments: [.committedNotDispatched, .inHandler, .effectSubmitted, .effectDurable] as [Failpoint.Point])
  func confirmation(point: Failpoint.Point) async throws {
    let settings: TreeNode = ["grantSignupReward": ["untilConfirmed": true], "rewardReferrals": ["untilConfirmed": true]]
    try await TestServer.run(registerFunctions, settings: settings) { server in
      let project = AccountProject(name: "test", namespace: server.namespaceID)
      let order = PasswordSignUp(email: try #require(EmailAddress("bob@x.io")), password: "secret1")
      let made = try await server.application.accounts.signUp(
        order, AccountContext(project: project, network: "test"))
      let bob = made.account.uid
      try await server.set(Path(parsing: "/users/\(bob)"), ["level": 4, "referred_by": "alice"])
      try await server.set(Path(parsing: "/users/\(bob)/last_signin_at"), 1)
      try await server.set(Path(parsing: "/users/\(bob)/level"), 5)
      try await server.expectEntries(2)
      #expect(try await server.balance(Self.gold) == 0)
      try await server.crash(at: point) {
        var draft = AccountDraft()
        draft.isEmailVerified = true
        _ = try await server.application.accounts.update(
          bob, to: draft, AccountContext(project: project, administrator: .admin("test"), network: "test"))
        try await server.application.settle()
      }
      for _ in 0..<2 {
        #expect(try await server.balance(Self.gold) == 50)
        #expect(try await server.balance(Path(parsing: "/users/\(bob)/inventory/pieces_of_eight")) == 50)
        try await server.expectEntries(4)
        try await server.restart()
        try await server.application.settle()
      }
    }
  }

  @Test("Dying again and again, each time in the function, still pays once")
  func twice() async throws {
    try await TestServer.run(registerFunctions, tree: Self.bobAtFour) { server in
      try await server.crash(at: .inHandler) { try await server.set(Self.level, 5) }
      try await server.crash(at: .effectDurable) { try await server.set("/users/bob/last_signin_at", 1) }
      try await server.restart()
      #expect(try await server.balance(Self.gold) == 50)
      #expect(try await server.balance(Places.gold, "bob") == 50)
      try await server.expectEntries(2)
    }
  }

  @Test("A crash that nothing comes by is a mistake in the test, and says so")
  func neverReached() async throws {
    try await TestServer.run(registerFunctions) { server in
      await #expect(throws: TestServerError.self) {
        try await server.crash(at: .inHandler) { try await server.set("/elsewhere", 1) }
      }
    }
  }
}

private enum Places {
  static let level = TreePath<Int64, UserID>("/users/{uid}/level")
  static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
}

private enum TemporarilyBroken: Error {
  case notYet
}

/// How often a function may still fail.
private final class FailureBudget: Sendable {
  private let left: Mutex<Int>

  init(_ count: Int) {
    left = Mutex(count)
  }

  func spend() -> Bool {
    left.withLock { left in
      guard left > 0 else { return false }
      left -= 1
      return true
    }
  }
}
