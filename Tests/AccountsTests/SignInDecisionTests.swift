import Credentials
import StorageCore
import Synchronization
import Testing
import TreeModel

@testable import Accounts

/// Decides as a test says, and remembers what it was asked.
final class ScriptedDecider: SignInDeciding {
  typealias Decision = @Sendable (SignInQuestion) async throws -> SignInAllowance

  private let decision: Decision
  private let log = Mutex<[SignInQuestion]>([])

  init(_ decision: @escaping Decision) { self.decision = decision }

  var questions: [SignInQuestion] { log.withLock(\.self) }
  /// What was asked, as `beforeCreate by password`.
  var asked: [String] { questions.map { "\($0.occasion.rawValue) by \($0.method)\($0.isUpgrade ? ", upgrade" : "")" } }

  func occasions(of settings: AccountSettings) -> Set<SignInOccasion> { Set(SignInOccasion.allCases) }

  func decide(_ question: SignInQuestion, settings: AccountSettings, context: AccountContext) async throws -> SignInAllowance {
    log.withLock { $0.append(question) }
    return try await decision(question)
  }
}

/// What happens once, while somebody decides.
private final class Meanwhile: Sendable {
  private let change = Mutex<(@Sendable () async throws -> Void)?>(nil)

  func set(_ body: @escaping @Sendable () async throws -> Void) { change.withLock { $0 = body } }

  func take() -> (@Sendable () async throws -> Void)? {
    change.withLock { change in
      defer { change = nil }
      return change
    }
  }
}

/// What a deployment decides before an account is made and before a session begins.
struct SignInDecisionTests {
  /// A way in: what it is called, and how it is gone.
  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let enter: @Sendable (AccountFixture) async throws -> Player
  }

  static let ways: [Way] = [
    Way(testDescription: "anonymous") { try await $0.anonymous() },
    Way(testDescription: "password") { try await $0.signUp("jim@x.io") },
    Way(testDescription: "google.com") { try await $0.signIn(as: ["sub": "g1", "email": "jim@x.io", "email_verified": true]) },
    Way(testDescription: "phone") { try await $0.signInByPhone($0.number()) },
  ]

  @Test("a sign-up that is refused stores nothing, whatever the way", arguments: ways)
  func refused(way: Way) async throws {
    let decider = ScriptedDecider { _ in throw AccountError.refusedByDecision("Not you.") }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let before = try fixture.stored()
      let error = await fixture.error { _ = try await way.enter(fixture) }
      #expect(error == .refusedByDecision("Not you."))
      #expect(decider.asked == ["beforeCreate by \(way.testDescription)"])
      #expect(try fixture.stored() == before)
    }
  }

  @Test("a sign-up is asked about once, and once as a sign-in; the account is named before it is stored", arguments: ways)
  func allowed(way: Way) async throws {
    let decider = ScriptedDecider { _ in SignInAllowance() }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let player = try await way.enter(fixture)
      #expect(decider.asked == ["beforeCreate by \(way.testDescription)", "beforeSignIn by \(way.testDescription)"])
      #expect(decider.questions.allSatisfy { $0.account.uid == player.uid })
      #expect(try fixture.accounts.account(player.uid, of: fixture.project) != nil)
    }
  }

  @Test("what is decided is part of the account and of its tokens; claims of a session stay with the session")
  func changes() async throws {
    let decider = ScriptedDecider { question in
      var allowance = SignInAllowance()
      switch question.occasion {
      case .creation:
        allowance.displayName = "Jim"
        allowance.claims = #"{"crew":"red"}"#
      case .signIn: allowance.sessionClaims = #"{"device":"new"}"#
      }
      return allowance
    }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let player = try await fixture.signUp("jim@x.io")
      #expect(player.account.displayName == "Jim" && player.account.claims == #"{"crew":"red"}"#)
      for token in [try fixture.token(player), try fixture.token(await fixture.refreshed(player))] {
        #expect(token.claims["crew"] == "red" && token.claims["device"] == "new" && token.claims["name"] == "Jim")
      }
      let stored = try #require(try fixture.accounts.account(player.uid, of: fixture.project))
      #expect(stored.claims == #"{"crew":"red"}"#)
    }
  }

  static let oddClaims = ["{}", #"{"iss":"me"}"#, "5", "{", #"{"a":"\#(String(repeating: "x", count: 1000))"}"#]

  @Test("claims that no account may have let nobody in", arguments: oddClaims)
  func refusedClaims(claims: String) async throws {
    let decider = ScriptedDecider { _ in
      var allowance = SignInAllowance()
      allowance.claims = claims
      return allowance
    }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let error = await fixture.error { _ = try await fixture.anonymous() }
      if claims == "{}" {
        #expect(error == nil, "no claims are claims")
      } else {
        guard case .decisionFailed? = error else {
          Issue.record("\(error.map { "\($0)" } ?? "nothing was thrown")")
          return
        }
      }
    }
  }

  @Test("who is disabled by a decision is not let in, and no account is made")
  func disabled() async throws {
    let decider = ScriptedDecider { _ in
      var allowance = SignInAllowance()
      allowance.isDisabled = true
      return allowance
    }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      #expect(await fixture.error { _ = try await fixture.signUp("jim@x.io") } == .disabledAccount)
      let account = try fixture.accounts.account(.email("jim@x.io"), of: fixture.project)
      #expect(account == nil)
    }
  }

  @Test("an anonymous account that gets a password is asked about as an upgrade; a refusal leaves it anonymous")
  func upgrade() async throws {
    let decider = ScriptedDecider { question in
      guard question.account.email?.hasSuffix("@short.example") != true else {
        throw AccountError.refusedByDecision("An address that lasts.")
      }
      return SignInAllowance()
    }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let player = try await fixture.anonymous()
      #expect(
        await fixture.error { _ = try await fixture.signUp("jim@short.example", linking: player) }
          == .refusedByDecision("An address that lasts."))
      #expect(try fixture.accounts.account(player.uid, of: fixture.project)?.isAnonymous == true)
      let linked = try await fixture.signUp("jim@x.io", linking: player)
      #expect(linked.uid == player.uid && !linked.account.isAnonymous)
      #expect(decider.asked.suffix(2) == ["beforeCreate by password, upgrade", "beforeCreate by password, upgrade"])
    }
  }

  @Test("a session that goes on with another way to sign in is asked about as one that begins, and gets its claims")
  func links() async throws {
    let decider = ScriptedDecider { question in
      var allowance = SignInAllowance()
      if question.occasion == .signIn { allowance.sessionClaims = #"{"ship":"hispaniola"}"# }
      return allowance
    }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let player = try await fixture.signUp("jim@x.io")
      let linked = try await fixture.signIn(as: ["sub": "g1"], linking: player)
      #expect(decider.asked.last == "beforeSignIn by google.com")
      #expect(try fixture.token(linked).claims["ship"] == "hispaniola")
      let called = try await fixture.signInByPhone(fixture.number(), linking: linked)
      #expect(decider.asked.last == "beforeSignIn by phone")
      #expect(called.uid == player.uid)
      #expect(try fixture.token(called).claims["ship"] == "hispaniola")
    }
  }

  @Test("a sign-in is asked about, with the second factor where there is one; administrators and refreshes are not")
  func signIns() async throws {
    let decider = ScriptedDecider { _ in SignInAllowance() }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let player = try await fixture.signUp("jim@x.io")
      let count = decider.asked.count
      _ = try await fixture.refreshed(player)
      try await fixture.administer(player.uid) { $0.displayName = "Jim" }
      _ = try await fixture.accounts.create(AccountDraft(), uid: nil, fixture.administrator)
      #expect(decider.asked.count == count)
      try await fixture.signIn("jim@x.io")
      #expect(decider.asked.last == "beforeSignIn by password" && decider.asked.count == count + 1)
    }
  }

  @Test("an account that changes while a function is asked is asked about as it is then")
  func overtaken() async throws {
    let meanwhile = Meanwhile()
    let decider = ScriptedDecider { question in
      guard question.occasion == .signIn, let change = meanwhile.take() else { return SignInAllowance() }
      try await change()
      return SignInAllowance()
    }
    try await AccountFixture.run(with: .init(decider: decider)) { fixture in
      let player = try await fixture.signUp("jim@x.io")
      meanwhile.set { try await fixture.administer(player.uid) { $0.displayName = "James" } }
      let signedIn = try await fixture.signIn("jim@x.io")
      #expect(signedIn.account.displayName == "James")
      #expect(decider.questions.suffix(2).map(\.account.displayName) == [nil, "James"])
    }
  }
}
