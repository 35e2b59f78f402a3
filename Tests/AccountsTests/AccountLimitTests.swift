import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// How often one network may ask, and how often one mailbox is written to.
struct AccountLimitTests {
  @Test("one network makes a bounded number of accounts in an hour, however it makes them")
  func signUps() async throws {
    try await AccountFixture.run(as: .production, { $0.signUpsPerHour = 3 }) { fixture in
      _ = try await fixture.anonymous()
      try await fixture.signUp("a@x.io")
      let last = try await fixture.anonymous()
      #expect(await fixture.error { _ = try await fixture.anonymous() } == .tooManyFailures)
      #expect(await fixture.error { try await fixture.signUp("b@x.io") } == .tooManyFailures)
      // A link makes no account, and another network has a count of its own.
      #expect(await fixture.error { try await fixture.signUp("b@x.io", linking: last) } == nil)
      #expect(await fixture.error { try await fixture.signUp("c@x.io", from: "198.51.100.1") } == nil)
      fixture.clock.advance(by: 3_600_000)
      #expect(await fixture.error { try await fixture.signUp("d@x.io") } == nil)
    }
  }

  @Test("so many passwords come from one network, whatever accounts they are for; others are not concerned")
  func passwords() async throws {
    try await AccountFixture.run(as: .production, { $0.passwordsPerClient = RateLimit(3, per: 60_000) }) { fixture in
      try await fixture.signUp("jim@x.io", from: "192.0.2.9")
      var errors: [AccountError?] = []
      for number in 1...5 {
        errors.append(await fixture.error { try await fixture.signIn("p\(number)@x.io", from: "198.51.100.1") })
      }
      #expect(errors == [.unknownEmail, .unknownEmail, .unknownEmail, .tooManyPasswords, .tooManyPasswords])
      // Whether it signs up or in: each takes a hash.
      #expect(await fixture.error { try await fixture.signUp("new@x.io", from: "198.51.100.1") } == .tooManyPasswords)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", from: "192.0.2.9") } == nil)
      // Administrators' are not counted.
      for number in 1...5 {
        var draft = AccountDraft()
        draft.email = try fixture.email("admin\(number)@x.io")
        _ = try await fixture.accounts.create(draft, password: "secret1", fixture.administrator)
      }
      fixture.clock.advance(by: 20_000)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", from: "198.51.100.1") } == nil)
    }
  }

  @Test("one mailbox gets no more codes for being spelt in many ways")
  func spellings() async throws {
    try await AccountFixture.run(as: .production, { $0.codesPerRecipient = RateLimit(2, per: 3_600_000) }) { fixture in
      var errors: [AccountError?] = []
      let spellings = [
        "victim+1@x.io", "victim+2@x.io", "victim@x.io", "v.i@gmail.com", "VI@gmail.com", "v.i+x@googlemail.com",
      ]
      for (number, email) in spellings.enumerated() {
        errors.append(
          await fixture.error { _ = try await fixture.mail(.signIn(fixture.email(email)), from: "192.0.2.\(number)") })
      }
      #expect(errors == [nil, nil, .tooManyCodes, nil, nil, .tooManyCodes])
      #expect(fixture.letters.all.map(\.to) == ["victim+1@x.io", "victim+2@x.io", "v.i@gmail.com", "vi@gmail.com"])
    }
  }

  @Test("codes are mailed so often for who asks, and so often to one address, whatever they are for")
  func codes() async throws {
    try await AccountFixture.run(
      as: .production,
      {
        $0.codesPerClient = RateLimit(5, per: 3_600_000)
        $0.codesPerRecipient = RateLimit(2, per: 3_600_000)
      }
    ) { fixture in
      func ask(_ email: String, from network: String) async -> AccountError? {
        await fixture.error { _ = try await fixture.mail(.signIn(fixture.email(email)), from: network) }
      }
      // Anybody's address, from everywhere: the recipient is spared.
      var toOne: [AccountError?] = []
      for last in 1...4 { toOne.append(await ask("victim@x.io", from: "192.0.2.\(last)")) }
      #expect(toOne == [nil, nil, .tooManyCodes, .tooManyCodes])
      // Everybody's address, from one network.
      var fromOne: [AccountError?] = []
      for number in 1...7 { fromOne.append(await ask("p\(number)@x.io", from: "198.51.100.1")) }
      #expect(fromOne == [nil, nil, nil, nil, nil, .tooManyCodes, .tooManyCodes])
      #expect(fixture.letters.all.count == 7)
      // An administrator's are not counted.
      let victim = try fixture.email("victim@x.io")
      let sent = await fixture.error {
        _ = try await fixture.accounts.emailCodes.send(CodeRequest(.signIn(victim)), fixture.administrator)
      }
      #expect(sent == nil)
      fixture.clock.advance(by: 3_600_000)
      #expect(await ask("victim@x.io", from: "198.51.100.1") == nil)
    }
  }

  @Test("who changes addresses to make the server write letters is slowed down too")
  func recovery() async throws {
    try await AccountFixture.run(as: .production, { $0.codesPerRecipient = RateLimit(1, per: 3_600_000) }) { fixture in
      var errors: [AccountError?] = []
      for number in 1...2 {
        let player = try await fixture.signUp("victim@x.io")
        errors.append(await fixture.error { _ = try await fixture.update(player, email: "p\(number)@x.io") })
      }
      #expect(errors == [nil, .tooManyCodes])
      #expect(fixture.letters.all.map(\.to) == ["victim@x.io"])
    }
  }

  @Test("where addresses are hidden, the limit says nothing about who is known", arguments: ["jim@x.io", "nobody@x.io"])
  func hidden(email: String) async throws {
    try await AccountFixture.run(as: .production, { $0.codesPerRecipient = RateLimit(2, per: 3_600_000) }) { fixture in
      try await fixture.signUp("jim@x.io")
      try await fixture.configure { $0.hidesAddresses = true }
      var errors: [AccountError?] = []
      for _ in 0..<3 {
        let request = CodeRequest(.passwordReset(try fixture.email(email)))
        errors.append(await fixture.error { _ = try await fixture.accounts.emailCodes.send(request, fixture.client) })
      }
      #expect(errors == [nil, nil, .tooManyCodes])
    }
  }

  // MARK: The throttle alone

  private func isBlocked(_ throttle: Throttle, _ account: String = "jim", from address: String = "a", at now: Int64) -> Bool {
    do {
      try throttle.checkAttempt(account, from: address, at: now)
      return false
    } catch {
      return true
    }
  }

  @Test("every failure beyond the tenth doubles the wait, up to an hour")
  func doubling() {
    let throttle = Throttle(options: AccountOptions())
    var now: Int64 = 0
    for _ in 0..<9 { throttle.noteFailure("jim", from: "a", at: now) }
    #expect(!isBlocked(throttle, at: now))
    for wait: Int64 in [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] {
      throttle.noteFailure("jim", from: "a", at: now)
      #expect(isBlocked(throttle, at: now + wait * 1000 - 1), "\(wait)")
      #expect(!isBlocked(throttle, at: now + wait * 1000), "\(wait)")
      now += wait * 1000
    }
    // An hour without a failure, and it begins from the start.
    now += 3_600_001
    throttle.noteFailure("jim", from: "a", at: now)
    #expect(!isBlocked(throttle, at: now))
  }

  @Test("failures are an account's and a network's together; a success forgets them there, a reset everywhere")
  func forgetting() {
    let throttle = Throttle(options: AccountOptions())
    for (account, address) in [("jim", "a"), ("jim", "b"), ("jimmy", "a")] {
      for _ in 0..<10 { throttle.noteFailure(account, from: address, at: 0) }
    }
    #expect(isBlocked(throttle, at: 1) && !isBlocked(throttle, from: "c", at: 1))
    throttle.noteSuccess("jim", from: "a")
    #expect(!isBlocked(throttle, at: 1) && isBlocked(throttle, from: "b", at: 1))
    throttle.clear("jim")
    #expect(!isBlocked(throttle, from: "b", at: 1))
    #expect(isBlocked(throttle, "jimmy", at: 1))
  }
}
