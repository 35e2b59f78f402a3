import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Anonymous accounts, and how they become accounts with an address.
struct AnonymousLinkTests {
  @Test("an anonymous account has a uid of 28 characters, a token that says so, and a bare record")
  func anonymous() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      #expect(player.isNew)
      #expect(player.uid.utf8.count == 28)
      #expect(player.result.tokens?.lifetime == 3600)
      let token = try fixture.token(player)
      #expect(token.uid == player.uid && token.project == "game" && token.provider == "anonymous")
      #expect(token.claims["provider_id"] == "anonymous")
      #expect(token.claims["firebase"] == ["identities": [:], "sign_in_provider": "anonymous"])
      #expect(token.claims["email"] == nil)
      let record = try fixture.record(player.uid)
      #expect(record.isAnonymous && record.providerIDs.isEmpty)
      #expect(record.password == nil && record.displayName == nil && record.validSince == nil)
      #expect(record.createdAt == AccountFixture.start && record.lastLoginAt == AccountFixture.start)
    }
  }

  @Test("a link keeps the uid and the name; new tokens say password, and the password signs in")
  func link() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      _ = try await fixture.update(player) { $0.displayName = "Jim" }
      fixture.clock.advance(by: 5000)
      let linked = try await fixture.signUp("jim@x.io", linking: player)
      #expect(linked.uid == player.uid && !linked.isNew)
      let token = try fixture.token(linked)
      #expect(token.claims["firebase"] == ["identities": ["email": ["jim@x.io"]], "sign_in_provider": "password"])
      #expect(token.claims["provider_id"] == nil)
      #expect(token.claims["name"] == "Jim")
      let record = try fixture.record(player.uid)
      #expect(record.password != nil && !record.isEmailVerified)
      #expect(record.providerIDs == ["password"] && !record.isAnonymous)
      #expect(record.displayName == "Jim")
      #expect(record.links == ["password": true] && record.linkedAt == fixture.clock.now())
      let validSince = try #require(record.validSince)
      #expect(token.issuedAt >= validSince)
      #expect(token.authTime >= validSince)
      #expect(try await fixture.signIn("JIM@x.io").uid == player.uid)
    }
  }

  @Test("the ID token of before a link is over a second later")
  func oldToken() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      fixture.clock.advance(by: 1000)
      let linked = try await fixture.signUp("jim@x.io", linking: player)
      #expect(await fixture.refusal(of: player) == .expiredToken)
      #expect(try fixture.accounts.profiles.account(idToken: linked.idToken, of: fixture.project).email == "jim@x.io")
    }
  }

  @Test("a profile change that sets address and password is a link, whose tokens hold against validSince")
  func linkByUpdate() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      fixture.clock.advance(by: 2000)
      let linked = player.after(try await fixture.update(player, email: "jim@x.io") { $0.password = "secret1" })
      #expect(linked.uid == player.uid)
      let token = try fixture.token(linked)
      #expect(token.provider == "password")
      #expect(token.authTime >= (try #require(try fixture.record(player.uid).validSince)))
      #expect(await fixture.refusal(of: linked) == nil)
    }
  }

  @Test("an address alone leaves the token anonymous, a password does not; a name or a picture gives no tokens")
  func halfway() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      let named = try await fixture.update(player) { ($0.displayName, $0.photoURL) = ("Jim", "http://p") }
      #expect(named.result == nil && named.newEmail == nil)
      #expect(named.account.displayName == "Jim" && named.account.photoURL == "http://p")
      let cleared = try await fixture.update(player) { $0.deletedAttributes = [.displayName, .photoURL] }
      #expect(cleared.account.displayName == nil && cleared.account.photoURL == nil)
      let update = try await fixture.update(player, email: "jim@x.io")
      #expect(update.newEmail == "jim@x.io" && update.account.providerIDs.isEmpty)
      let addressed = player.after(update)
      #expect(try fixture.token(addressed).provider == "anonymous")
      let secured = addressed.after(try await fixture.update(addressed) { $0.password = "secret1" })
      #expect(try fixture.token(secured).provider == "password")
      #expect(secured.account.providerIDs == ["password"])
    }
  }

  @Test("an address that is taken changes nothing, however it is written", arguments: ["ann@x.io", "ANN@X.IO"])
  func takenAddress(email: String) async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("Ann@X.io")
      let player = try await fixture.anonymous()
      #expect(await fixture.error { try await fixture.signUp(email, linking: player) } == .emailTaken)
      #expect(await fixture.error { try await fixture.signUp(email) } == .emailTaken)
      #expect(await fixture.error { _ = try await fixture.update(player, email: email) } == .emailTaken)
      #expect(try fixture.record(player.uid).email == nil)
      #expect(await fixture.refusal(of: player) == nil)
    }
  }

  @Test("where one address may have several accounts, they all have it, and it leads to the first")
  func duplicates() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.configure { $0.allowsDuplicateEmails = true }
      let first = try await fixture.signUp("jim@x.io", "secret1")
      let second = try await fixture.signUp("jim@x.io", "secret2")
      #expect(first.uid != second.uid)
      #expect(try fixture.record(first.uid).email == "jim@x.io" && fixture.record(second.uid).email == "jim@x.io")
      #expect(try await fixture.signIn("jim@x.io", "secret1").uid == first.uid)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io", "secret2") } == .wrongPassword)
      // The address goes on leading to the first when another goes.
      try await fixture.accounts.remove(second.uid, of: fixture.project, by: .admin("test"))
      #expect(try fixture.accounts.uid(ofEmail: "JIM@x.io", of: fixture.project) == first.uid)
    }
  }

  @Test("an account that is disabled or gone cannot be linked")
  func deadAccounts() async throws {
    try await AccountFixture.run { fixture in
      let disabled = try await fixture.anonymous()
      try await fixture.administer(disabled.uid) { $0.isDisabled = true }
      #expect(await fixture.error { try await fixture.signUp("a@x.io", linking: disabled) } == .disabledAccount)
      let deleted = try await fixture.anonymous()
      try await fixture.accounts.profiles.delete(idToken: deleted.idToken, of: fixture.project)
      #expect(await fixture.error { try await fixture.signUp("a@x.io", linking: deleted) } == .unknownAccount)
      #expect(try fixture.accounts.uid(ofEmail: "a@x.io", of: fixture.project) == nil)
    }
  }

  @Test("a Google user adds a password for their own address")
  func ownAddress() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signIn(as: ["sub": "g1", "email": "ann@x.io", "email_verified": true])
      let linked = try await fixture.signUp("ann@x.io", linking: player)
      #expect(linked.uid == player.uid)
      let record = try fixture.record(player.uid)
      #expect(record.providerIDs == ["google.com", "password"])
      #expect(record.isEmailVerified)
      #expect(record.links == ["password": false] && record.linkedAt == nil)
    }
  }

  @Test("of a hundred players who want one address at once exactly one gets it")
  func concurrentLinks() async throws {
    try await AccountFixture.run { fixture in
      var players: [Player] = []
      for _ in 0..<100 { players.append(try await fixture.anonymous()) }
      let errors = await withTaskGroup(of: AccountError?.self) { group in
        for player in players {
          group.addTask { await fixture.error { try await fixture.signUp("one@x.io", linking: player) } }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(errors.count { $0 == nil } == 1)
      #expect(errors.count { $0 == .emailTaken } == 99)
      #expect(try players.count { try fixture.record($0.uid).email != nil } == 1)
    }
  }

  @Test("a link whose answer was lost is safely asked for again, with the token of before")
  func repeatedLink() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      try await fixture.signUp("jim@x.io", linking: player)
      fixture.clock.advance(by: 30_000)
      let again = try await fixture.signUp("jim@x.io", linking: player)
      #expect(again.uid == player.uid)
      #expect(await fixture.refusal(of: again) == nil)
      #expect(await fixture.error { try await fixture.signUp("jim@x.io", "another", linking: player) } == .emailTaken)
      // It is a sign-in: of a disabled account there is none, and of guesses only so many.
      try await fixture.administer(player.uid) { $0.isDisabled = true }
      #expect(await fixture.error { try await fixture.signUp("jim@x.io", linking: player) } == .disabledAccount)
      try await fixture.administer(player.uid) { $0.isDisabled = false }
      for _ in 0..<9 {
        #expect(await fixture.error { try await fixture.signUp("jim@x.io", "another", linking: player) } == .emailTaken)
      }
      #expect(await fixture.error { try await fixture.signUp("jim@x.io", linking: player) } == .tooManyFailures)
    }
  }

  @Test("a link is in the public part of the account, which says what the account was before")
  func publicPart() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      #expect(try fixture.record(player.uid).publicNode == fixture.publicNode(of: player.uid))
      let linked = try await fixture.signIn(as: ["sub": "g1"], linking: player)
      try await fixture.signUp("jim@x.io", linking: linked)
      let node = try fixture.publicNode(of: player.uid)
      #expect(node == (try fixture.record(player.uid).publicNode))
      #expect(try fixture.record(player.uid).links == ["google.com": true, "password": false])
      try await fixture.accounts.remove(player.uid, of: fixture.project, by: .admin("test"))
      #expect(try fixture.publicNode(of: player.uid) == .absent)
    }
  }
}

extension AccountFixture {
  /// What functions see of an account.
  func publicNode(of uid: String) throws -> TreeNode {
    let place = PathBytes(AccountRecord.path(of: uid))
    let leaves = try read { (snapshot) throws(StorageError) in
      try snapshot.leaves(in: project.namespace, under: place, limit: 100).map(\.leaf)
    }
    return try #require(TreeNode(leaves: leaves, at: place))
  }
}
