import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Players whom the studio's own server signs in.
struct CustomTokenSignInTests {
  @Test("a custom token makes its account once, and its claims are in every token of the session")
  func development() async throws {
    try await AccountFixture.run { fixture in
      let token = #"{"uid":"jim","claims":{"vip":true}}"#
      let made = try await fixture.signIn(customToken: token)
      #expect(made.isNew && made.uid == "jim")
      #expect(made.account.isCustom && !made.account.isAnonymous && made.account.providerIDs.isEmpty)
      #expect(try fixture.token(made).provider == "custom")
      #expect(try fixture.token(made).claims["vip"] == true)
      #expect(try await !fixture.signIn(customToken: token).isNew)
      #expect(try fixture.token(try await fixture.refreshed(made)).claims["vip"] == true)
      // The claims are the session's, not the account's.
      let plain = try await fixture.signIn(customToken: #"{"uid":"jim"}"#)
      #expect(try fixture.token(plain).claims["vip"] == nil)
    }
  }

  @Test("a custom token is welcome to an anonymous account, whose session from before ends as after a link")
  func anonymous() async throws {
    try await AccountFixture.run { fixture in
      let player = try await fixture.anonymous()
      fixture.clock.advance(by: 120_000)
      let custom = try await fixture.signIn(customToken: #"{"uid":"\#(player.uid)"}"#)
      #expect(!custom.isNew && custom.uid == player.uid)
      #expect(try !fixture.record(player.uid).isAnonymous)
      #expect(await fixture.refusal(of: custom) == nil)
      #expect(await fixture.refresh(player.refreshToken) == nil)
      fixture.clock.advance(by: 60_000)
      #expect(await fixture.refresh(player.refreshToken) == .expiredToken)
      #expect(await fixture.refresh(custom.refreshToken) == nil)
    }
  }

  @Test("the claims of the session win over the account's, and neither over the server's")
  func precedence() async throws {
    try await AccountFixture.run { fixture in
      let made = try await fixture.signIn(customToken: #"{"uid":"jim","claims":{"rank":"custom","email":"eve@x.io"}}"#)
      try await fixture.administer("jim") { $0.claims = .some(#"{"rank":"account","guild":"red"}"#) }
      let claims = try fixture.token(try await fixture.refreshed(made)).claims
      #expect(claims["rank"] == "custom" && claims["guild"] == "red")
      #expect(claims["email"] == nil && claims["sub"] == "jim")
    }
  }

  @Test("in production the token is signed by a service account of this server; what is not says why")
  func production() async throws {
    let studio = try StudioIdentities()
    try await AccountFixture.run(as: .production, with: .init(identities: studio, tokens: .signed)) { fixture in
      let made = try await fixture.signIn(customToken: try studio.customToken("jim", claims: ["vip": true]))
      #expect(made.uid == "jim" && made.isNew)
      #expect(try fixture.token(made).claims["vip"] == true)
      let rows: [(String, CustomTokenError)] = [
        (try studio.customToken(nil), .missingIdentifier),
        (try studio.customToken("eve", claims: ["iss": "me"]), .forbiddenClaim("iss")),
        (try studio.customToken("eve", claims: [1]), .invalid("The claims are no JSON object.")),
        (#"{"uid":"eve"}"#, .invalid(TokenError.malformed("it has 1 parts instead of three.").description)),
        (
          WebToken.unsigned(["iss": .string(StudioIdentities.serviceAccount), "sub": .string(StudioIdentities.serviceAccount)]),
          .invalid(TokenError.unsupportedAlgorithm("none").description)
        ),
      ]
      for (token, expected) in rows {
        #expect(await fixture.error { _ = try await fixture.signIn(customToken: token) } == .invalidCustomToken(expected))
      }
      #expect(try fixture.accounts.account("eve", of: fixture.project) == nil)
      try await fixture.administer("jim") { $0.isDisabled = true }
      let token = try studio.customToken("jim")
      #expect(await fixture.error { _ = try await fixture.signIn(customToken: token) } == .disabledAccount)
    }
  }

  @Test("a custom token, which the studio vouches for, makes accounts where players may not")
  func signUpDisabled() async throws {
    try await AccountFixture.run { fixture in
      try await fixture.configure { $0.allowsSignUp = false }
      #expect(try await fixture.signIn(customToken: #"{"uid":"jim"}"#).isNew)
    }
  }
}
