import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Whom rewards were paid for, remembered by keyed hashes when the account goes or gives an identity up.
struct PaidIdentityTests {
  private static let hash = IdentityHash(key: Array(0..<32))
  private static let lifetime: Int64 = 400 * AccountFixture.day

  private func run(_ change: (inout AccountOptions) -> Void = { _ in }, _ test: (AccountFixture) async throws -> Void)
    async throws
  {
    try await AccountFixture.run(
      {
        $0.identities = Self.hash
        change(&$0)
      }, test)
  }

  /// Notes that a reward was paid for a player.
  private func pay(_ uid: String, in fixture: AccountFixture) async throws {
    var request = CommitRequest(namespace: fixture.project.namespace, actor: .admin("test"))
    let paid = PaidRewards().adding(["welcome"], of: nil, until: nil)
    request.rows.records = [KeyedRecordChange(kind: PaidRewards.playerKind, key: uid, value: paid.text)]
    _ = try await fixture.database.commit(request)
  }

  private func records(_ kind: String, in fixture: AccountFixture) throws -> [String: String] {
    let records = try fixture.read { (snapshot) throws(StorageError) in
      try snapshot.records(in: fixture.project.namespace, kind: kind, after: nil, isDescending: false, limit: 100)
    }
    return Dictionary(records.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  @Test("the address, the number and the identities of a player who was paid and left are known again, as hashes")
  func leaving() async throws {
    try await run { fixture in
      let player = try await fixture.verifiedPlayer("jim+tag@x.io")
      try await fixture.signIn(as: ["sub": "g1"], linking: player)
      try await fixture.administer(player.uid) { $0.phoneNumber = PhoneNumber("+15550100") }
      try await pay(player.uid, in: fixture)
      let record = try fixture.record(player.uid)
      let count = try fixture.read { snapshot in
        try fixture.accounts.rememberedIdentities(of: record, in: fixture.project.namespace, snapshot: snapshot)
      }
      #expect(count == 3)
      try await fixture.accounts.remove(player.uid, of: fixture.project, by: .admin("test"))
      #expect(try records(PaidRewards.playerKind, in: fixture).isEmpty)
      let known = try records(PaidRewards.identityKind, in: fixture)
      #expect(known.keys.sorted() == Self.hash.hashes(of: record) && known.count == 3)
      for value in known.values {
        let paid = PaidRewards(stored: value)
        #expect(paid.players == ["welcome": [Self.hash.player(player.uid)]])
        #expect(paid.until == fixture.clock.now() + Self.lifetime)
        #expect(!value.contains("x.io") && !value.contains(player.uid))
      }
      // The same mailbox under another tag is the same person.
      var other = AccountRecord(uid: "other", createdAt: 0)
      other.email = "JIM@x.io"
      #expect(Self.hash.hashes(of: other).allSatisfy { known[$0] != nil })
    }
  }

  @Test("of who was not paid it is known for a month who it was: a reward may be under way")
  func unpaid() async throws {
    try await run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      let record = try fixture.record(player.uid)
      let anonymous = try await fixture.anonymous()
      for uid in [player.uid, anonymous.uid] {
        try await fixture.accounts.remove(uid, of: fixture.project, by: .admin("test"))
      }
      #expect(try records(PaidRewards.identityKind, in: fixture).isEmpty)
      let former = try records(FormerIdentities.kind, in: fixture)
      // Who had nothing but a token leaves nothing to know them by.
      #expect(Array(former.keys) == [player.uid])
      let stored = try #require(former[player.uid].flatMap { FormerIdentities(stored: $0) })
      #expect(stored.hashes == Self.hash.hashes(of: record))
      #expect(stored.until == fixture.clock.now() + 30 * AccountFixture.day)
    }
  }

  @Test("a confirmed address that a paid player gives up is remembered, one that nobody confirmed is nobody's")
  func givenUp() async throws {
    try await run { fixture in
      for (email, isVerified) in [("a@x.io", true), ("b@x.io", false)] {
        let player = try await fixture.signUp(email)
        try await fixture.administer(player.uid) { $0.isEmailVerified = isVerified }
        try await pay(player.uid, in: fixture)
        let before = try records(PaidRewards.identityKind, in: fixture).count
        try await fixture.administer(player.uid) { $0.email = EmailAddress("new-\(email)") }
        #expect(try records(PaidRewards.identityKind, in: fixture).count - before == (isVerified ? 1 : 0))
      }
      let unpaid = try await fixture.verifiedPlayer("c@x.io")
      try await fixture.administer(unpaid.uid) { $0.email = EmailAddress("new-c@x.io") }
      #expect(try records(PaidRewards.identityKind, in: fixture).count == 1)
    }
  }

  @Test("where nothing is to be remembered, nothing is", arguments: [true, false])
  func off(hasKey: Bool) async throws {
    try await run({ if hasKey { $0.paidIdentityLifetime = nil } else { $0.identities = nil } }) { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      try await pay(player.uid, in: fixture)
      #expect(try (fixture.record(player.uid).network != nil) == hasKey)
      try await fixture.accounts.remove(player.uid, of: fixture.project, by: .admin("test"))
      for kind in [PaidRewards.identityKind, FormerIdentities.kind, PaidRewards.playerKind] {
        #expect(try records(kind, in: fixture).isEmpty, "\(kind)")
      }
    }
  }

  @Test("what is remembered goes when its time is over")
  func forgetting() async throws {
    try await run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      try await pay(player.uid, in: fixture)
      try await fixture.accounts.remove(player.uid, of: fixture.project, by: .admin("test"))
      func counts() async throws -> [Int] {
        try await fixture.accounts.cleaner.forgetPaidIdentities(in: fixture.project)
        return try [FormerIdentities.kind, PaidRewards.identityKind].map { try records($0, in: fixture).count }
      }
      #expect(try await counts() == [1, 1])
      fixture.clock.advance(by: 30 * AccountFixture.day)
      #expect(try await counts() == [0, 1])
      fixture.clock.advance(by: Self.lifetime - 30 * AccountFixture.day - 1)
      #expect(try await counts() == [0, 1])
      fixture.clock.advance(by: 1)
      #expect(try await counts() == [0, 0])
    }
  }

  @Test("a new account knows its client's network as a hash, the same for the same network")
  func network() async throws {
    try await run { fixture in
      let one = try await fixture.signUp("a@x.io", from: "192.0.2.1")
      let two = try await fixture.signUp("b@x.io", from: "192.0.2.1")
      let three = try await fixture.signUp("c@x.io", from: "198.51.100.1")
      #expect(one.account.network != nil && one.account.network == two.account.network)
      #expect(one.account.network != three.account.network)
      let made = try await fixture.accounts.create(AccountDraft(), fixture.administrator)
      #expect(made.network == nil)
    }
  }
}
