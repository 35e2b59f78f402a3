import Credentials
import StorageCore
import Testing
import TestSupport
import TreeModel

@testable import Accounts

/// Players of several brands of one game, kept apart.
struct TenantTests {
  private func tenant(_ fixture: AccountFixture, called name: String) async throws -> AccountContext {
    let made = try await fixture.accounts.tenants.create(of: fixture.project, by: .admin("test")) { tenant in
      tenant.displayName = name
      tenant.allowsPasswords = true
      tenant.allowsEmailLinks = true
      tenant.allowsAnonymous = true
      tenant.secondFactors.isEnabled = true
      tenant.secondFactors.adjacentSteps = 1
    }
    return fixture.client.within(.tenant(made.id))
  }

  private func pair(_ fixture: AccountFixture) async throws -> (AccountContext, AccountContext) {
    (try await tenant(fixture, called: "Ape"), try await tenant(fixture, called: "Bee"))
  }

  private func signUp(_ fixture: AccountFixture, email: String, _ context: AccountContext) async throws -> Player {
    Player(try await fixture.accounts.signUp(PasswordSignUp(email: try fixture.email(email), password: "secret1"), context))
  }

  private func tenantID(_ context: AccountContext) throws -> TenantID {
    try #require(context.project.scope.tenant.flatMap(TenantID.init))
  }

  @Test("a page of tenants is short only where the list ends, also beside deletions")
  func pages() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.accounts.change(fixture.project, by: .admin("test")) { transaction in
        for name in ["a", "b", "c", "d", "e"] {
          guard let id = TenantID(name) else { continue }
          var tenant = AccountTenant(id)
          tenant.isLeaving = ["b", "c"].contains(name)
          transaction.putRecord(of: AccountTenant.kind, key: name, value: tenant.storedText)
        }
      }
      func page(after last: String?) throws -> [String] {
        try fixture.accounts.tenants.page(of: fixture.project, after: last, limit: 2).map(\.id.text)
      }
      #expect(try page(after: nil) == ["a", "d"])
      #expect(try page(after: "d") == ["e"])
    }
  }

  @Test("one address is three players: of the project and of each tenant, each of whom signs in at home only")
  func sameAddress() async throws {
    try await AccountFixture.run { fixture in
      let (ape, bee) = try await pair(fixture)
      let contexts = [fixture.client.within(.project), ape, bee]
      var uids: [String] = []
      for context in contexts { uids.append(try await signUp(fixture, email: "jim@x.io", context).uid) }
      #expect(Set(uids).count == 3)
      for (context, uid) in zip(contexts, uids) {
        let email = try fixture.email("jim@x.io")
        let player = Player(try await fixture.accounts.signIn(email: email, password: "secret1", context: context))
        #expect(player.uid == uid)
        #expect(player.account.tenant == context.project.scope.tenant)
        #expect(try fixture.token(player).tenant == context.project.scope.tenant)
        #expect(try fixture.accounts.page(of: context.project, after: nil, limit: 10).accounts.map(\.uid) == [uid])
        #expect(try fixture.accounts.count(of: context.project) == 1)
        let error = await fixture.error { _ = try await signUp(fixture, email: "jim@x.io", context) }
        #expect(error == .emailTaken)
      }
      #expect(try fixture.accounts.count(of: fixture.project) == 3)
    }
  }

  @Test("a token of one tenant is a mismatch at the other and at the project: ID token, refresh token, cookie, custom token")
  func tokens() async throws {
    try await AccountFixture.run { fixture in
      let (ape, bee) = try await pair(fixture)
      let player = try await signUp(fixture, email: "jim@x.io", ape)
      let accounts = fixture.accounts
      for other in [bee, fixture.client.within(.project)] {
        let project = other.project
        let (profiles, token) = (accounts.profiles, player.idToken)
        #expect(await fixture.error { _ = try profiles.account(idToken: token, of: project) } == .tenantMismatch)
        #expect(await fixture.error { try await profiles.delete(idToken: token, of: project) } == .tenantMismatch)
        let order = ProfileUpdate(idToken: player.idToken)
        #expect(await fixture.error { _ = try await accounts.profiles.update(order, other) } == .tenantMismatch)
        #expect(await fixture.error { _ = try await accounts.refresh(player.refreshToken, of: project) } == .tenantMismatch)
        #expect(
          await fixture.error { _ = try accounts.sessionCookie(for: player.idToken, duration: nil, of: project) }
            == .tenantMismatch)
        let custom = #"{"uid":"sam","tenant_id":"\#(try tenantID(ape))"}"#
        #expect(await fixture.error { _ = try await accounts.signIn(customToken: custom, context: other) } == .tenantMismatch)
        var link = PasswordSignUp(email: try fixture.email("other@x.io"), password: "secret1")
        link.idToken = player.idToken
        let linking = link
        #expect(await fixture.error { _ = try await accounts.signUp(linking, other) } == .tenantMismatch)
      }
      #expect(try accounts.profiles.account(idToken: player.idToken, of: ape.project).uid == player.uid)
      #expect(try await accounts.refresh(player.refreshToken, of: ape.project).uid == player.uid)
      let cookie = try accounts.sessionCookie(for: player.idToken, duration: nil, of: ape.project)
      #expect(cookie.split(separator: ".", omittingEmptySubsequences: false).count == 3)
      #expect(accounts.tenant(claimedBy: player.idToken) == ape.project.scope.tenant)
      #expect(try accounts.tenant(ofRefreshToken: player.refreshToken, of: fixture.project) == ape.project.scope.tenant)
    }
  }

  @Test("rules see the tenant of a player in the token")
  func rules() async throws {
    try await AccountFixture.run { fixture in
      let ape = try await tenant(fixture, called: "Ape")
      let player = try await signUp(fixture, email: "jim@x.io", ape)
      let auth = try #require(try fixture.accounts.auth(of: player.uid, in: fixture.project))
      #expect(auth.json["token"]?["firebase"]?["tenant"]?.string == ape.project.scope.tenant)
      #expect(player.account.publicNode == (try fixture.record(player.uid)).publicNode)
      #expect("\(player.account.publicNode)".contains(try tenantID(ape).text))
    }
  }

  @Test("a mailed code is none at another tenant, and an administrator's look there finds nobody")
  func codes() async throws {
    try await AccountFixture.run { fixture in
      let (ape, bee) = try await pair(fixture)
      let player = try await signUp(fixture, email: "jim@x.io", ape)
      _ = try await signUp(fixture, email: "jim@x.io", bee)
      let email = try fixture.email("jim@x.io")
      for purpose in [CodeRequest.Purpose.passwordReset(email), .signIn(email), .verification(of: .idToken(player.idToken))] {
        _ = try await fixture.accounts.emailCodes.send(CodeRequest(purpose), ape)
        let code = try fixture.letters.lastCode()
        for other in [bee.project, fixture.project.within(.project)] {
          #expect(await fixture.error { _ = try fixture.accounts.emailCodes.code(code, of: other) } == .invalidCode)
        }
        #expect(try fixture.accounts.emailCodes.code(code, of: ape.project).email == "jim@x.io")
      }
      #expect(try fixture.accounts.account(player.uid, of: bee.project) == nil)
      #expect(try fixture.accounts.account(.email("jim@x.io"), of: fixture.project) == nil)
      #expect(try fixture.accounts.account(.email("jim@x.io"), of: ape.project)?.uid == player.uid)
    }
  }

  @Test("the wait for a second factor, and an authenticator that is being set up, are their tenant's")
  func secondFactors() async throws {
    try await AccountFixture.run { fixture in
      let (ape, bee) = try await pair(fixture)
      let made = try await signUp(fixture, email: "jim@x.io", ape)
      var draft = AccountDraft()
      draft.isEmailVerified = true
      _ = try await fixture.accounts.update(made.uid, to: draft, fixture.administrator.within(ape.project.scope))
      let factors = fixture.accounts.secondFactors
      let enrollee = try factors.enrollee(idToken: made.idToken, of: ape.project)
      let setup = try factors.enrollAuthenticator(enrollee, of: ape.project)
      let code = fixture.code(setup.secret)
      let proof = EnrollmentProof.authenticator(code: code, session: setup.session)
      let foreign = await fixture.error {
        _ = try await factors.finishEnrollment(proof, displayName: nil, enrollee: enrollee, of: bee.project)
      }
      #expect(foreign == .unknownCodeSession)
      _ = try await factors.finishEnrollment(proof, displayName: nil, enrollee: enrollee, of: ape.project)
      let email = try fixture.email("jim@x.io")
      let waiting = try await fixture.accounts.signIn(email: email, password: "secret1", context: ape)
      guard case .secondFactorNeeded(let credential, _) = waiting.result else {
        Issue.record("A second factor was to be asked for.")
        return
      }
      #expect(await fixture.error { try factors.check(pending: credential, of: bee.project) } == .invalidPendingCredential)
      #expect(try factors.policy(of: ape.project).adjacentSteps == 1)
      try factors.check(pending: credential, of: ape.project)
    }
  }

  @Test("a uid is one player's: no tenant takes another's, by an administrator, an import or a custom token")
  func uids() async throws {
    try await AccountFixture.run { fixture in
      let (ape, bee) = try await pair(fixture)
      let player = try await signUp(fixture, email: "jim@x.io", ape)
      let uid = try #require(AccountID(player.uid))
      let administrator = fixture.administrator.within(bee.project.scope)
      #expect(
        await fixture.error { _ = try await fixture.accounts.create(AccountDraft(), uid: uid, administrator) } == .uidTaken)
      let custom = #"{"uid":"\#(uid)","tenant_id":"\#(try tenantID(bee))"}"#
      #expect(await fixture.error { _ = try await fixture.accounts.signIn(customToken: custom, context: bee) } == .uidTaken)
      let row = try ImportedAccount(AccountRecord(uid: player.uid, createdAt: 0), secondFactors: nil)
      for scope in [bee.project.scope, .project] {
        let errors = try await fixture.accounts.importer.store(
          [(0, row)], overwrites: true, triggers: false, context: fixture.administrator.within(scope))
        #expect(errors.map(\.error) == [.importedAccountExists])
      }
      #expect(try fixture.record(player.uid) == player.account)
    }
  }

  @Test("wrong passwords at one tenant block nobody at another")
  func limits() async throws {
    try await AccountFixture.run(as: .production, { $0.failuresMax = 2 }) { fixture in
      try await fixture.configure { $0.allowsTenants = true }
      let (ape, bee) = try await pair(fixture)
      for context in [ape, bee] { _ = try await signUp(fixture, email: "jim@x.io", context) }
      let email = try fixture.email("jim@x.io")
      for _ in 0..<2 {
        _ = await fixture.error { _ = try await fixture.accounts.signIn(email: email, password: "wrong1", context: ape) }
      }
      let blocked = await fixture.error {
        _ = try await fixture.accounts.signIn(email: email, password: "secret1", context: ape)
      }
      #expect(blocked == .tooManyFailures)
      #expect(try await fixture.accounts.signIn(email: email, password: "secret1", context: bee).account.email == "jim@x.io")
    }
  }

  @Test("a tenant lets in by what is switched on, and production has none until the project allows them")
  func settings() async throws {
    try await AccountFixture.run(as: .production) { fixture in
      let tenants = fixture.accounts.tenants
      let refused = await fixture.error { _ = try await tenants.create(of: fixture.project, by: .admin("test")) { _ in } }
      #expect(refused == .tenantsOff)
      try await fixture.configure { $0.allowsTenants = true }
      let plain = try await tenants.create(of: fixture.project, by: .admin("test")) { _ in }
      let context = fixture.client.within(.tenant(plain.id))
      #expect(await fixture.error { _ = try await signUp(fixture, email: "jim@x.io", context) } == .passwordsDisabled)
      #expect(await fixture.error { _ = try await fixture.accounts.signUpAnonymously(context) } == .signUpDisabled)
      let link = CodeRequest(.signIn(try fixture.email("jim@x.io")))
      #expect(await fixture.error { _ = try await fixture.accounts.emailCodes.send(link, context) } == .emailLinksDisabled)
      #expect(try await tenants.scope(of: plain.id.text, in: fixture.project) == .tenant(plain.id))
      _ = try await tenants.update(plain.id, of: fixture.project, by: .admin("test")) { $0.isDisabled = true }
      #expect(await fixture.error { _ = try await tenants.scope(of: plain.id.text, in: fixture.project) } == .disabledTenant)
      #expect(await fixture.error { _ = try await tenants.scope(of: "nowhere", in: fixture.project) } == .unknownTenant)
      #expect(await fixture.error { _ = try await tenants.scope(of: "a/b", in: fixture.project) } == .unknownTenant)
      try await fixture.configure { $0.allowsTenants = false }
      #expect(await fixture.error { _ = try await tenants.scope(of: plain.id.text, in: fixture.project) } == .tenantsOff)
    }
  }

  @Test("a tenant goes with its accounts and providers, and who comes meanwhile does not come into being")
  func deletion() async throws {
    try await AccountFixture.run { fixture in
      let (ape, bee) = try await pair(fixture)
      let (gone, stays) = (try await signUp(fixture, email: "jim@x.io", ape), try await signUp(fixture, email: "jim@x.io", bee))
      let id = try #require(ProviderID("oidc.guild"))
      let own = ProviderConfiguration.OpenIDConnect(clientID: "game", issuer: "https://guild.example")
      let guild = ProviderConfiguration(id, kind: .openIDConnect(own))
      for context in [ape, bee] {
        try await fixture.accounts.providers.create(guild, of: context.project, by: .admin("test"))
      }
      let tenant = try tenantID(ape)
      try await fixture.accounts.tenants.delete(tenant, of: fixture.project, by: .admin("test"))
      #expect(try fixture.accounts.account(gone.uid, of: fixture.project) == nil)
      #expect(try fixture.record(stays.uid).uid == stays.uid)
      #expect(try fixture.accounts.providers.configuration(id, of: ape.project) == nil)
      #expect(try fixture.accounts.providers.configuration(id, of: bee.project) == guild)
      #expect(await fixture.error { _ = try fixture.accounts.tenants.tenant(tenant, of: fixture.project) } == .unknownTenant)
      #expect(await fixture.error { _ = try await signUp(fixture, email: "jim@x.io", ape) } == .unknownTenant)
      // A request that read the settings before the tenant went is refused on the writer.
      let late = await fixture.error {
        try await fixture.accounts.change(ape.project, by: .system("test")) { transaction in
          var record = AccountRecord(uid: "late", createdAt: transaction.time)
          try transaction.save(&record, from: nil)
        }
      }
      #expect(late == .unknownTenant)
      #expect(
        await fixture.error {
          try await fixture.accounts.tenants.delete(tenant, of: fixture.project, by: .admin("test"))
        } == .unknownTenant)
    }
  }

  @Test("a provider that is set up for one tenant signs nobody in at another, and one that is switched off nobody at all")
  func providers() async throws {
    let studio = try StudioIdentities()
    var surroundings = AccountFixture.Surroundings()
    surroundings.identities = studio
    try await AccountFixture.run(as: .production, with: surroundings) { fixture in
      try await fixture.configure { $0.allowsTenants = true }
      let (ape, bee) = try await pair(fixture)
      let id = try #require(ProviderID("oidc.guild"))
      let own = ProviderConfiguration.OpenIDConnect(clientID: "game", issuer: "https://guild.example")
      var guild = ProviderConfiguration(id, kind: .openIDConnect(own))
      guild.isEnabled = true
      try await fixture.accounts.providers.create(guild, of: ape.project, by: .admin("test"))
      var assertion = IdentityAssertion(provider: id)
      let second = fixture.clock.now() / 1000
      assertion.idToken = try studio.key.token([
        "iss": "https://guild.example", "aud": "game", "sub": "g1", "iat": .int(second), "exp": .int(second + 600),
      ])
      let shown = assertion
      func signIn(_ context: AccountContext) async throws -> FederatedSignIn.Outcome {
        try await fixture.accounts.federation.signIn(shown, idToken: { nil }, context: context).outcome
      }
      guard case .signedIn(let player) = try await signIn(ape) else {
        Issue.record("The player was to be signed in.")
        return
      }
      #expect(player.account.providers.map(\.id) == ["oidc.guild"])
      #expect(player.account.tenant == ape.project.scope.tenant)
      for other in [bee, fixture.client.within(.project)] {
        #expect(await fixture.error { _ = try await signIn(other) } == .invalidIdentity(.unknownProvider))
      }
      _ = try await fixture.accounts.providers.update(id, of: ape.project, by: .admin("test")) { current in
        var changed = current
        changed.isEnabled = false
        return changed
      }
      #expect(await fixture.error { _ = try await signIn(ape) } == .invalidIdentity(.disabledProvider))
    }
  }

  @Test("a stored tenant and a stored provider are read as they were written")
  func storage() throws {
    let id = try #require(TenantID("Ape-1"))
    var tenant = AccountTenant(id)
    tenant.displayName = "Ape"
    tenant.allowsAnonymous = true
    tenant.isDisabled = true
    tenant.hidesAddresses = true
    tenant.allowsSignUp = false
    tenant.passwordPolicy = PasswordPolicy()
    tenant.passwordPolicy?.needsDigit = true
    tenant.secondFactors.isEnabled = true
    tenant.secondFactors.providers = ["PHONE_SMS"]
    tenant.secondFactors.adjacentSteps = 3
    #expect(AccountTenant(id, stored: tenant.storedText) == tenant)
    #expect(AccountTenant(id, stored: "nothing") == nil)
    let saml = ProviderConfiguration.SAML(
      entityID: "theirs", signInURL: "https://guild.example/sso", certificates: ["pem"], ownEntityID: "ours")
    let configuration = ProviderConfiguration(try #require(ProviderID("saml.guild")), kind: .saml(saml))
    #expect(ProviderConfiguration(configuration.id, stored: configuration.storedText) == configuration)
    for name in ["", "a/b", "a b", String(repeating: "a", count: 65)] { #expect(TenantID(name) == nil) }
    #expect(AccountIdentifier(storedKind: "Ape-1/email", value: "a") == AccountIdentifier.email("a").within("Ape-1"))
    #expect(AccountIdentifier(storedKind: "email", value: "a") == .email("a"))
  }
}
