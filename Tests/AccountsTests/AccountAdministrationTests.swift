import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// What administrators do with accounts, one by one and many at once.
struct AccountAdministrationTests {
  private func draft(email: String? = nil, phone: String? = nil) -> AccountDraft {
    var draft = AccountDraft()
    draft.email = email.flatMap(EmailAddress.init)
    draft.phoneNumber = phone.flatMap(PhoneNumber.init)
    return draft
  }

  @Test("an account is made once; a fresh one was never used; who is unknown is not found at all")
  func create() async throws {
    try await AccountFixture.run { fixture in
      let (accounts, project) = (fixture.accounts, fixture.project)
      let id = try #require(AccountID("jim"))
      let made = try await accounts.create(draft(email: "jim@x.io", phone: "+15550100"), uid: id, fixture.administrator)
      #expect(made.uid == "jim" && made.email == "jim@x.io")
      #expect(made.lastLoginAt == nil && made.lastRefreshAt == nil && made.password == nil)
      #expect(try fixture.sessions(of: "jim") == 0)
      let rows: [(AccountDraft, AccountID?, AccountError)] = [
        (AccountDraft(), id, .uidTaken), (draft(email: "JIM@x.io"), nil, .emailTaken),
        (draft(phone: "+15550100"), nil, .phoneNumberTaken),
      ]
      for (draft, uid, expected) in rows {
        #expect(await fixture.error { _ = try await accounts.create(draft, uid: uid, fixture.administrator) } == expected)
      }
      var query = AccountQuery()
      query.uids = ["jim", "nobody"]
      query.identifiers = [.email("jim@x.io"), .phone("+15550100"), .phone("+1555")]
      #expect(query.count == 5)
      #expect(try accounts.accounts(query, of: project).map(\.uid) == ["jim"])
      query.uids = ["nobody"]
      query.identifiers = []
      #expect(try accounts.accounts(query, of: project).isEmpty)
    }
  }

  @Test("an account gets a fresh uid where none is given, and a password under the project's policy")
  func password() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.configure { $0.passwordPolicy.needsDigit = true }
      let accounts = fixture.accounts
      func create(_ password: String) async throws -> AccountRecord {
        try await accounts.create(draft(email: "jim@x.io"), password: password, fixture.administrator)
      }
      #expect(await fixture.error { _ = try await create("secret") } == .unmetPasswordRequirements([.digit]))
      let made = try await create("secret1")
      #expect(made.uid.utf8.count == 28 && made.passwordUpdatedAt == fixture.clock.now())
      #expect(try await fixture.signIn("jim@x.io").uid == made.uid)
    }
  }

  @Test("only what is disabled is deleted with others, unless it is forced; who does not exist is no error")
  func batchRemoval() async throws {
    try await AccountFixture.run { fixture in
      let (accounts, project) = (fixture.accounts, fixture.project)
      for uid in ["a", "b"] {
        _ = try await accounts.create(AccountDraft(), uid: AccountID(uid), fixture.administrator)
      }
      _ = try await accounts.setDisabled(true, uid: "a", of: project, by: .admin("test"))
      let errors = try await accounts.remove(["a", "b", "nobody"], isForced: false, of: project, by: .admin("test"))
      #expect(errors.map(\.index) == [1] && errors.map(\.error) == [.notDisabled])
      #expect(try accounts.account("a", of: project) == nil && accounts.account("b", of: project) != nil)
      #expect(try await accounts.remove(["b"], isForced: true, of: project, by: .admin("test")).isEmpty)
      #expect(try accounts.count(of: project) == 0)
    }
  }

  @Test("pages are complete and in order, and the last one says that it is")
  func pages() async throws {
    try await AccountFixture.run { fixture in
      let (accounts, project) = (fixture.accounts, fixture.project)
      let uids = (0..<7).map { "player\($0)" }
      for uid in uids.reversed() {
        _ = try await accounts.create(AccountDraft(), uid: AccountID(uid), fixture.administrator)
      }
      var found: [[String]] = []
      var last: String?
      repeat {
        let page = try accounts.page(of: project, after: last, limit: 3)
        found.append(page.accounts.map(\.uid))
        last = page.next
      } while last != nil
      #expect(found == [Array(uids[..<3]), Array(uids[3..<6]), Array(uids[6...])])
      #expect(try accounts.count(of: project) == 7)
      #expect(try accounts.accounts(of: project, skipping: 5, limit: 10).map(\.uid) == Array(uids[5...]))
      #expect(try accounts.accounts(of: project, skipping: 8, limit: 10).isEmpty)
    }
  }

  @Test("a project's accounts go all at once, however many, and their tokens with them")
  func removeAll() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      let rows = try (0..<250).map { index in
        (index, try ImportedAccount(AccountRecord(uid: "player\(index)", createdAt: 0), secondFactors: nil))
      }
      _ = try await fixture.accounts.importer.store(
        rows, overwrites: false, triggers: false, context: fixture.administrator)
      #expect(try fixture.accounts.count(of: fixture.project) == 251)
      try await fixture.accounts.removeAll(of: fixture.project, by: .admin("test"))
      #expect(try fixture.accounts.count(of: fixture.project) == 0)
      #expect(await fixture.refusal(of: player) == .unknownAccount)
      #expect(await fixture.refresh(player.refreshToken) == .unknownAccount)
    }
  }

  @Test("a disabled account's tokens are void at once, and good again when it is enabled")
  func disabling() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      let (accounts, project) = (fixture.accounts, fixture.project)
      let token = try fixture.token(player)
      func revocation() -> AccountRevocation.Reason? {
        accounts.watch.revocation(
          of: player.uid, in: project.namespace, issuedAt: token.issuedAt, at: fixture.clock.now())?.reason
      }
      #expect(try await accounts.setDisabled(true, uid: player.uid, of: project, by: .admin("test")).isDisabled)
      #expect(await fixture.refusal(of: player) == .disabledAccount)
      #expect(revocation() == .disabled)
      #expect(try await !accounts.setDisabled(false, uid: player.uid, of: project, by: .admin("test")).isDisabled)
      #expect(await fixture.refusal(of: player) == nil)
      #expect(revocation() == nil)
      #expect(
        await fixture.error { _ = try await accounts.setDisabled(true, uid: "x", of: project, by: .admin("test")) }
          == .unknownAccount)
    }
  }

  @Test("a change and a removal ride in a larger request, and do nothing where the account is gone")
  func partOfLarger() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      func commit(_ decision: any WriterDecision) async throws {
        var request = CommitRequest(namespace: fixture.project.namespace, actor: .admin("test"))
        request.decision = decision
        _ = try await fixture.database.commit(request)
      }
      try await commit(fixture.accounts.disabling(player.uid))
      #expect(try fixture.record(player.uid).isDisabled)
      let disabled = try fixture.record(player.uid)
      try await commit(fixture.accounts.disabling(player.uid))
      #expect(try fixture.record(player.uid) == disabled)
      try await commit(fixture.accounts.removal(of: player.uid))
      #expect(try fixture.accounts.account(player.uid, of: fixture.project) == nil)
      #expect(
        fixture.accounts.watch.revocation(
          of: player.uid, in: fixture.project.namespace, issuedAt: 0, at: fixture.clock.now())?.reason == .deleted)
      try await commit(fixture.accounts.removal(of: player.uid))
      try await commit(fixture.accounts.disabling(player.uid))
      #expect(try fixture.accounts.count(of: fixture.project) == 0)
    }
  }

  @Test("another address from an administrator ends what was issued before, and is unconfirmed unless it says otherwise")
  func address() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.verifiedPlayer("jim@x.io")
      fixture.clock.advance(by: 2000)
      // The same address says nothing new.
      #expect(try await fixture.administer(player.uid) { $0.email = EmailAddress("jim@x.io") }.isEmailVerified)
      #expect(await fixture.refusal(of: player) == nil)
      var draft = AccountDraft()
      draft.email = try fixture.email("new@x.io")
      let changed = try await fixture.accounts.update(player.uid, to: draft, fixture.administrator).account
      #expect(changed.email == "new@x.io")
      #expect(!changed.isEmailVerified && changed.validSince == fixture.clock.now() / 1000)
      #expect(await fixture.refusal(of: player) == .expiredToken)
      var again = AccountDraft()
      let edit: (inout AccountDraft) -> Void = { ($0.email, $0.isEmailVerified) = (EmailAddress("jim@x.io"), true) }
      edit(&again)
      #expect(again.email?.text == "jim@x.io", "\(again)")
      let both = try await fixture.administer(player.uid, edit)
      #expect(both.isEmailVerified && both.initialEmail == nil, "\(both)")
      #expect(both.addresses == ["jim@x.io"], "\(both)")
    }
  }

  // MARK: What is set and taken away

  @Test("a draft sets what it says, and leaves the rest")
  func fill() throws {
    var full = AccountRecord(uid: "jim", createdAt: 1)
    (full.email, full.isEmailVerified, full.displayName, full.photoURL) = ("jim@x.io", true, "Jim", "http://p")
    (full.phoneNumber, full.claims, full.validSince, full.lastLoginAt) = ("+15550100", "{}", 5, 6)
    var same = full
    try AccountDraft().fill(&same, at: 9)
    #expect(same == full)
    let edits: [(String, (inout AccountDraft) -> Void, (inout AccountRecord) -> Void)] = [
      ("address", { $0.email = EmailAddress("a@x.io") }, { ($0.email, $0.isEmailVerified) = ("a@x.io", false) }),
      ("confirmation", { $0.isEmailVerified = false }, { $0.isEmailVerified = false }),
      ("name", { $0.displayName = "" }, { $0.displayName = "" }),
      ("number", { $0.phoneNumber = PhoneNumber("+15550101") }, { $0.phoneNumber = "+15550101" }),
      ("disabled", { $0.isDisabled = true }, { $0.isDisabled = true }),
      ("claims", { $0.claims = .some("{\"a\":1}") }, { $0.claims = "{\"a\":1}" }),
      ("no claims", { $0.claims = .some(nil) }, { $0.claims = nil }),
      (
        "times", { ($0.createdAt, $0.lastLoginAt, $0.validSince) = (7, 8, 9) },
        { ($0.createdAt, $0.lastLoginAt, $0.validSince) = (7, 8, 9) }
      ),
    ]
    for (name, edit, expectation) in edits {
      var draft = AccountDraft()
      edit(&draft)
      var (found, expected) = (full, full)
      try draft.fill(&found, at: 10)
      expectation(&expected)
      #expect(found == expected, "\(name)")
    }
  }

  @Test("edits take away what they name: an attribute, a provider, or by an empty text a name and a picture")
  func apply() {
    var full = AccountRecord(uid: "jim", createdAt: 1)
    (full.email, full.isEmailVerified, full.signsInByLink, full.password) = ("jim@x.io", true, true, "hash")
    (full.displayName, full.photoURL, full.phoneNumber) = ("Jim", "http://p", "+15550100")
    full.providers = [.init(id: "google.com", rawID: "g1"), .init(id: "oidc.guild", rawID: "o1")]
    let edits: [(String, (inout AccountEdits) -> Void, (inout AccountRecord) -> Void)] = [
      ("nothing", { _ in }, { _ in }), ("empty name", { $0.displayName = "" }, { $0.displayName = nil }),
      ("empty picture", { $0.photoURL = "" }, { $0.photoURL = nil }),
      ("name", { $0.displayName = "J" }, { $0.displayName = "J" }),
      (
        "address", { $0.deletedAttributes = [.email] },
        { ($0.email, $0.isEmailVerified, $0.signsInByLink) = (nil, false, false) }
      ),
      (
        "name and picture", { $0.deletedAttributes = [.displayName, .photoURL] }, { ($0.displayName, $0.photoURL) = (nil, nil) }
      ),
      ("password", { $0.deletedAttributes = [.password] }, { $0.password = nil }),
      (
        "password's provider", { $0.deletedProviders = ["password"] },
        { ($0.email, $0.isEmailVerified, $0.signsInByLink, $0.password) = (nil, false, false, nil) }
      ), ("telephone", { $0.deletedProviders = ["phone"] }, { $0.phoneNumber = nil }),
      ("identity", { $0.deletedProviders = ["google.com", "apple.com"] }, { $0.providers.removeFirst() }),
      ("another identity", { $0.link = .init(id: "google.com", rawID: "g2") }, { $0.providers[0].rawID = "g2" }),
      (
        "an identity more", { $0.link = .init(id: "apple.com", rawID: "a1") },
        { $0.providers.append(.init(id: "apple.com", rawID: "a1")) }
      ),
    ]
    for (name, edit, expectation) in edits {
      var draft = AccountEdits()
      edit(&draft)
      var (found, expected) = (full, full)
      draft.apply(to: &found)
      expectation(&expected)
      #expect(found == expected, "\(name)")
    }
  }

  @Test("the same number twice is one second factor; the same id twice, and more than five, are refused")
  func factorDrafts() throws {
    func draft(_ number: Int, id: String? = nil) throws -> SecondFactorDraft {
      SecondFactorDraft(.phone(try #require(PhoneNumber("+4915112\(number)"))), id: id)
    }
    let checked = try SecondFactorDraft.checked([draft(1), draft(1), draft(2, id: "two")]) { "new" }
    #expect(checked.map(\.id) == ["new", "two"])
    #expect(throws: AccountError.duplicateSecondFactorID) {
      try SecondFactorDraft.checked([draft(1, id: "one"), draft(2, id: "one")]) { "new" }
    }
    var number = 0
    func newID() -> String {
      number += 1
      return "\(number)"
    }
    #expect(throws: AccountError.tooManySecondFactors) {
      try SecondFactorDraft.checked((1...6).map { try draft($0) }, newID: newID)
    }
    // Fifty that say the same are one; more are not even looked at.
    let same = try draft(1)
    #expect(try SecondFactorDraft.checked(Array(repeating: same, count: 50), newID: newID).count == 1)
    #expect(throws: AccountError.tooManySecondFactors) {
      try SecondFactorDraft.checked(Array(repeating: same, count: 51), newID: newID)
    }
    #expect(throws: AccountError.missingAuthenticatorSecret) {
      try SecondFactorDraft(.authenticator(nil), id: "one").factor(beside: [], at: 0)
    }
    let phone = SecondFactor(id: "one", enrolledAt: 0, proof: .phone(number: "+15550100"))
    #expect(throws: AccountError.missingAuthenticatorSecret) {
      try SecondFactorDraft(.authenticator(nil), id: "one").factor(beside: [phone], at: 0)
    }
  }
}
