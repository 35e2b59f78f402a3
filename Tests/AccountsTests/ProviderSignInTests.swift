import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Identities elsewhere: signing in by them, linking them, and whose address counts.
struct ProviderSignInTests {
  @Test("a link with an identity keeps the uid; its address is taken over only where there is none")
  func link() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      let linked = try await fixture.signIn(
        as: ["sub": "g1", "email": "jim@x.io", "email_verified": true], linking: player)
      #expect(linked.uid == player.uid && !linked.isNew)
      let token = try fixture.token(linked)
      #expect(token.claims["firebase"]?["identities"]?["google.com"] == ["g1"])
      #expect(token.provider == "google.com")
      let again = try await fixture.signIn(as: ["sub": "o1", "email": "other@x.io"], at: "oidc.guild", linking: linked)
      #expect(again.uid == player.uid)
      #expect(again.account.email == "jim@x.io" && again.account.isEmailVerified)
      #expect(again.account.providerIDs == ["google.com", "oidc.guild"])
      // The provider's word for the address that the account has confirms it, that of an unknown one does not.
      let ann = try await fixture.signUp("ann@x.io")
      #expect(try await fixture.signIn(as: ["sub": "g2", "email": "ann@x.io"], linking: ann).account.isEmailVerified == false)
      let proved = try await fixture.signIn(
        as: ["sub": "a2", "email": "ann@x.io", "email_verified": "true"], at: "apple.com", linking: ann)
      #expect(proved.account.isEmailVerified)
    }
  }

  @Test("an identity or an address of somebody else is a conflict, which says who was meant and lets nobody in")
  func conflicts() async throws {
    try await AccountFixture.run { fixture in
      let owner = try await fixture.signIn(as: ["sub": "g1", "email": "ann@x.io", "email_verified": true])
      let player = try await fixture.anonymous()
      let rows: [(JSON, Player, AccountError)] = [
        (["sub": "g1"], player, .identityTaken), (["sub": "g1"], owner, .identityTaken),
        (["sub": "g1", "email": "ann@x.io"], player, .identityTaken),
        (["sub": "g2", "email": "ann@x.io"], player, .emailTaken),
      ]
      for (claims, linking, expected) in rows {
        let result = try await fixture.federate(claims, linking: linking)
        guard case .conflict(expected) = result.outcome else {
          Issue.record("\(claims): \(result.outcome)")
          continue
        }
        #expect(result.identity.provider.rawID == claims["sub"]?.string)
      }
      #expect(try fixture.record(player.uid).isAnonymous)
      #expect(await fixture.refusal(of: player) == nil)
    }
  }

  @Test("who proves an address gets its account, and drops what an unproved owner set")
  func sameAddress() async throws {
    try await AccountFixture.run { fixture in
      let unproved = try await fixture.signUp("a@x.io")
      let clash = try await fixture.federate(["sub": "g0", "email": "a@x.io"])
      guard case .needsConfirmation(let account) = clash.outcome else {
        Issue.record("\(clash.outcome)")
        return
      }
      #expect(account.uid == unproved.uid && account.providerIDs == ["password"])
      #expect(await fixture.error { try await fixture.signIn("a@x.io") } == nil)
      let proved = try await fixture.signIn(
        as: ["sub": "g1", "email": "a@x.io", "email_verified": true, "name": "Ann", "picture": "http://p"])
      #expect(proved.uid == unproved.uid && !proved.isNew)
      #expect(proved.account.displayName == "Ann" && proved.account.photoURL == "http://p")
      #expect(await fixture.error { try await fixture.signIn("a@x.io") } == .wrongPassword)
      let kept = try await fixture.verifiedPlayer("b@x.io")
      #expect(try await fixture.signIn(as: ["sub": "g2", "email": "b@x.io", "email_verified": true]).uid == kept.uid)
      #expect(await fixture.error { try await fixture.signIn("b@x.io") } == nil)
    }
  }

  @Test("nobody gets into a disabled account by an identity or by its address")
  func disabled() async throws {
    try await AccountFixture.run { fixture in
      let claims: JSON = ["sub": "g1", "email": "a@x.io", "email_verified": true]
      let player = try await fixture.signIn(as: claims)
      try await fixture.administer(player.uid) { $0.isDisabled = true }
      #expect(await fixture.error { try await fixture.signIn(as: claims) } == .disabledAccount)
      #expect(await fixture.error { try await fixture.signIn(as: claims, at: "apple.com") } == .disabledAccount)
    }
  }

  @Test("where one address may have several accounts, an identity brings none")
  func duplicates() async throws {
    try await AccountFixture.run { fixture in
      let first = try await fixture.signUp("a@x.io")
      try await fixture.configure { $0.allowsDuplicateEmails = true }
      let second = try await fixture.signIn(as: ["sub": "g1", "email": "a@x.io", "email_verified": true])
      #expect(second.isNew && second.uid != first.uid)
      #expect(second.account.email == nil && second.account.providers.map(\.email) == ["a@x.io"])
    }
  }

  @Test("an identity is brought up to date by every sign-in, one for each provider")
  func update() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signIn(as: ["sub": "g1", "name": "Jim"])
      #expect(made.isNew && made.account.displayName == "Jim")
      let again = try await fixture.signIn(as: ["sub": "g1", "name": "Jimmy", "screen_name": "jj"])
      #expect(again.uid == made.uid && !again.isNew)
      #expect(again.account.providers.map(\.displayName) == ["Jimmy"] && again.account.providers.first?.screenName == "jj")
      // The account's own name is the player's.
      #expect(again.account.displayName == "Jim")
      let other = try await fixture.signIn(as: ["sub": "g2"], linking: again)
      #expect(other.account.providers.map(\.rawID) == ["g2"])
      #expect(try await fixture.signIn(as: ["sub": "g1"]).uid != made.uid)
    }
  }

  @Test("what is unlinked goes, and nothing else")
  func unlink() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signIn(as: ["sub": "g1", "email": "jim@x.io", "email_verified": true])
      let linked = try await fixture.signUp("jim@x.io", linking: made)
      let rest = try await fixture.update(linked) { $0.deletedProviders = ["google.com"] }
      #expect(rest.account.providerIDs == ["password"] && rest.account.email == "jim@x.io")
      #expect(rest.result == nil)
      let bare = try await fixture.update(linked) { $0.deletedProviders = ["password"] }
      #expect(bare.account.providerIDs.isEmpty)
      #expect(bare.account.email == nil && bare.account.password == nil && !bare.account.isEmailVerified)
      #expect(try await fixture.signIn(as: ["sub": "g1"]).isNew)
      let phone = try await fixture.signInByPhone(fixture.number())
      #expect(try await fixture.update(phone) { $0.deletedProviders = ["phone"] }.account.phoneNumber == nil)
    }
  }

  @Test("identities stand in the order in which they came: of an import the foreign ones first, then what was linked")
  func order() async throws {
    try await AccountFixture.run { fixture in
      var record = AccountRecord(uid: "old", createdAt: 0)
      (record.email, record.phoneNumber) = ("old@x.io", "+15554446666")
      record.providers = [.init(id: "facebook.com", rawID: "f1"), .init(id: "twitter.com", rawID: "t1")]
      let row = try ImportedAccount(record, secondFactors: nil)
      _ = try await fixture.accounts.importer.store(
        [(0, row)], overwrites: true, triggers: false, context: fixture.administrator)
      #expect(try fixture.record("old").providerIDs == ["facebook.com", "twitter.com", "phone"])
      let made = try await fixture.signUp("new@x.io")
      #expect(try await fixture.signIn(as: ["sub": "g1"], linking: made).account.providerIDs == ["password", "google.com"])
    }
  }

  @Test("the identities at a provider are found for development's sign-in page, and no others")
  func listing() async throws {
    try await AccountFixture.run { fixture in
      for subject in ["g1", "g2", "g3"] { try await fixture.signIn(as: ["sub": .string(subject)]) }
      try await fixture.signIn(as: ["sub": "o1"], at: "oidc.guild")
      func identities(_ provider: String, _ limit: Int) throws -> Set<String> {
        Set(try fixture.accounts.federation.identities(at: provider, of: fixture.project, limit: limit).map(\.rawID))
      }
      #expect(try identities("google.com", 10) == ["g1", "g2", "g3"])
      #expect(try identities("google.com", 2).count == 2)
      #expect(try identities("oidc.guild", 10) == ["o1"] && identities("apple.com", 10).isEmpty)
    }
  }

  // MARK: Who is believed

  @Test("in development an access token of JSON text says who the player is, an opaque one nothing")
  func accessTokens() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signIn(accessToken: #"{"sub":"f1"}"#)
      guard case .signedIn(let signedIn) = made.outcome else {
        Issue.record("\(made.outcome)")
        return
      }
      let claims = try fixture.token(Player(signedIn)).claims
      #expect(claims["firebase"]?["identities"]?["facebook.com"] == ["f1"])
      for (token, problem) in [
        ("EAAB", AccountError.IdentityProblem.opaqueAccessToken), (#"{"sub"#, .unreadable(#"{"sub"#)), ("{}", .missingSubject),
        (#"{"sub":""}"#, .missingSubject), (#"{"sub":7}"#, .missingSubject), (nil, .missingIDToken),
      ] as [(String?, AccountError.IdentityProblem)] {
        #expect(await fixture.error { _ = try await fixture.signIn(accessToken: token) } == .invalidIdentity(problem))
      }
    }
  }

  @Test("in development a token is believed unseen, for what its claims are; an address that is none is left out")
  func unverified() async throws {
    let google = try StudioIdentities().googleToken("g1", audience: "anybody", email: "Jim@X.io")
    let identity = try ProvenIdentity(unverified: google, of: try #require(ProviderID("google.com")))
    #expect(identity.provider.rawID == "g1" && identity.provider.email == "jim@x.io" && identity.isEmailVerified)
    #expect(identity.provider.displayName == "Jim")
    let odd = try ProvenIdentity(
      unverified: #"{"sub":"o1","email":"n0<victim@x.io>","display_name":"O","email_verified":"false"}"#,
      of: try #require(ProviderID("oidc.guild")))
    #expect(odd.provider.email == nil && odd.provider.displayName == "O" && !odd.isEmailVerified)
    #expect(throws: AccountError.invalidIdentity(.unreadable(nil))) {
      try ProvenIdentity(unverified: "a.b.c", of: try #require(ProviderID("google.com")))
    }
    let long = "{" + String(repeating: " ", count: WebToken.sizeMax)
    #expect(throws: AccountError.invalidIdentity(.unreadable(String(long.prefix(80))))) {
      try ProvenIdentity(unverified: long, of: try #require(ProviderID("google.com")))
    }
  }

  @Test("in production an identity is what a configured provider signed for this game, and nothing else")
  func production() async throws {
    let studio = try StudioIdentities()
    try await AccountFixture.run(as: .production, with: .init(identities: studio)) { fixture in
      let good = try await fixture.signIn(token: studio.googleToken("g1", email: "jim@gmail.com"), of: "google.com")
      guard case .signedIn(let signedIn) = good.outcome else {
        Issue.record("\(good.outcome)")
        return
      }
      #expect(signedIn.isNew && signedIn.account.email == "jim@gmail.com" && signedIn.account.isEmailVerified)
      #expect(good.identity.claims.contains(#""sub":"g1""#))
      let foreign = try studio.googleToken("g2", audience: "another game")
      let rows: [(String, String, AccountError.IdentityProblem)] = [
        (foreign, "google.com", .token(.wrongAudience("another game"))),
        (WebToken.unsigned(["sub": "g2"]), "google.com", .token(.unsupportedAlgorithm("none"))),
        (#"{"sub":"g2"}"#, "google.com", .token(.malformed("it has 1 parts instead of three."))),
        (try studio.googleToken("g2"), "apple.com", .unknownProvider),
      ]
      for (token, provider, problem) in rows {
        #expect(
          await fixture.error { _ = try await fixture.signIn(token: token, of: provider) } == .invalidIdentity(problem))
      }
      // Another time it may be good: that is no judgement.
      let down = await fixture.error { _ = try await fixture.signIn(token: studio.googleToken("g2"), of: "oidc.down") }
      #expect(down == .unavailable(TokenError.keysUnavailable("oidc.down").description))
      #expect(
        await fixture.error { _ = try await fixture.signIn(accessToken: #"{"sub":"f1"}"#) } == .invalidIdentity(.missingIDToken)
      )
      #expect(try fixture.accounts.count(of: fixture.project) == 1)
    }
  }
}
