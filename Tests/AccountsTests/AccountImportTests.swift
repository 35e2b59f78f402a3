import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Accounts from elsewhere.
struct AccountImportTests {
  private func row(
    _ uid: String, factors: [SecondFactorDraft]? = nil, _ fill: (inout AccountRecord) -> Void = { _ in }
  ) throws -> ImportedAccount {
    var record = AccountRecord(uid: uid, createdAt: 0)
    fill(&record)
    return try ImportedAccount(record, secondFactors: factors)
  }

  private func store(_ rows: [ImportedAccount], in fixture: AccountFixture, overwrites: Bool = false) async throws
    -> [Int: AccountError]
  {
    let errors = try await fixture.accounts.importer.store(
      rows.enumerated().map { ($0.offset, $0.element) }, overwrites: overwrites, triggers: false,
      context: fixture.administrator)
    return Dictionary(errors.map { ($0.index, $0.error) }, uniquingKeysWith: { first, _ in first })
  }

  @Test("rows that cannot be stored are left out, and each says why; the others are stored")
  func errors() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.signUp("jim@x.io")
      let phone = "+4915112345678"
      let rows = [
        try row("a"), try row("b") { $0.email = "jim@x.io" }, try row("c") { $0.phoneNumber = phone },
        try row("d") { $0.phoneNumber = phone }, try row("e") { $0.providers = [.init(id: "google.com", rawID: "g1")] },
        try row("f") { $0.providers = [.init(id: "google.com", rawID: "g1")] },
        try row("g", factors: [.init(.authenticator(nil), id: "x")]) { ($0.email, $0.isEmailVerified) = ("g@x.io", true) },
      ]
      #expect(
        try await store(rows, in: fixture) == [
          1: .importedEmailTaken, 3: .importedPhoneNumberTaken, 5: .importedIdentityTaken, 6: .missingAuthenticatorSecret,
        ])
      #expect(try fixture.accounts.count(of: fixture.project) == 4)
      #expect(try await store([row("a")], in: fixture) == [0: .importedAccountExists])
    }
  }

  @Test("a row with second factors needs an address that was confirmed")
  func factors() throws {
    let factor = SecondFactorDraft(.phone(try #require(PhoneNumber("+4915112345678"))))
    #expect(throws: AccountError.importedFactorsNeedEmail) { try row("a", factors: [factor]) }
    #expect(throws: AccountError.importedFactorsNeedVerifiedEmail) { try row("a", factors: [factor]) { $0.email = "a@x.io" } }
    _ = try row("a", factors: [factor]) { ($0.email, $0.isEmailVerified) = ("a@x.io", true) }
    // An empty list asks for nothing.
    _ = try row("a", factors: [])
  }

  @Test("where one address may have several accounts, an import may bring them, and it leads to the first")
  func duplicates() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.configure { $0.allowsDuplicateEmails = true }
      let rows = try ["a", "b"].map { uid in try row(uid) { $0.email = "jim@x.io" } }
      #expect(try await store(rows, in: fixture).isEmpty)
      #expect(try fixture.accounts.uid(ofEmail: "jim@x.io", of: fixture.project) == "a")
      #expect(try fixture.record("b").email == "jim@x.io")
    }
  }

  @Test("an account says when it was made elsewhere, or else now; tokens of before the import are void")
  func times() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signIn(customToken: #"{"uid":"a"}"#)
      fixture.clock.advance(by: 5000)
      let rows = [try row("a") { $0.createdAt = 1_000 }, try row("b")]
      #expect(try await store(rows, in: fixture, overwrites: true).isEmpty)
      let (a, b) = (try fixture.record("a"), try fixture.record("b"))
      #expect(a.createdAt == 1_000 && a.bornAt == fixture.clock.now())
      #expect(b.createdAt == fixture.clock.now())
      #expect(await fixture.refusal(of: made) == .unknownAccount)
      #expect(await fixture.refresh(made.refreshToken) == .unknownAccount)
    }
  }

  @Test("an import that overwrites takes the address, password and identities of before away with what led there")
  func overwriting() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.signUp("jim@x.io")
      try await fixture.signIn(as: ["sub": "g1"], linking: player)
      let rows = [try row(player.uid) { $0.email = "new@x.io" }]
      #expect(try await store(rows, in: fixture, overwrites: true).isEmpty)
      let record = try fixture.record(player.uid)
      #expect(record.email == "new@x.io" && record.password == nil && record.providers.isEmpty)
      #expect(await fixture.error { try await fixture.signIn("jim@x.io") } == .unknownEmail)
      #expect(try await fixture.signIn(as: ["sub": "g1"]).isNew)
    }
  }

  @Test("a password in plain text is hashed; one that is too long leaves its row out")
  func passwords() async throws {
    try await AccountFixture.run { fixture in
      var (good, long, none) = (try row("a") { $0.email = "a@x.io" }, try row("b"), try row("c") { $0.passwordUpdatedAt = 7 })
      good.password = .plain("notasecret")
      long.password = .plain(String(repeating: "x", count: 5000))
      none.password = nil
      #expect(try await store([good, long, none], in: fixture) == [1: .passwordTooLong])
      #expect(try fixture.record("a").password?.contains("notasecret") == false)
      #expect(try await fixture.signIn("a@x.io", "notasecret").uid == "a")
      #expect(try fixture.record("c").passwordUpdatedAt == nil)
    }
  }

  @Test("a thousand rows are stored, in commits whose events would fit")
  func many() async throws {
    try await AccountFixture.run { fixture in
      let rows = try (0..<AccountImporter.most).map { try row("player\($0)") }
      #expect(try await store(rows, in: fixture).isEmpty)
      #expect(try fixture.accounts.count(of: fixture.project) == 1000)
      let commits = try fixture.read { (snapshot) throws(StorageError) in
        try snapshot.commits(in: fixture.project.namespace, after: .zero, limit: 100)
      }
      #expect(commits.count == 5)
    }
  }
}
