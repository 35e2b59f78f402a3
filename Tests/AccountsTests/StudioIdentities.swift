import Credentials
import StorageCore
import Testing
import TestSupport
import TreeModel

@testable import Accounts

/// A studio that believes Google, has one service account, and a provider whose keys cannot be had.
struct StudioIdentities: IdentityProving {
  static let serviceAccount = "signer@game.iam.example"

  let clock: any WallClock
  let key: SigningKey

  init(clock: any WallClock = AdjustableClock(frozenAt: AccountFixture.start)) throws {
    self.clock = clock
    key = try SigningKey(pem: TestKeys.second)
  }

  func identity(_ token: String, of provider: String, nonce: String?) async throws(TokenError) -> ForeignIdentity? {
    switch provider {
    case "google.com":
      try ForeignIdentity(
        token, from: .google(clientIDs: ["game"]), keys: KeySet([key.id: key.verificationKey]), nonce: nonce, at: clock.now())
    case "oidc.down": throw .keysUnavailable("oidc.down")
    default: nil
    }
  }

  /// Every provider that is set up signs with the studio's own key.
  func identity(_ token: String, by provider: IdentityProvider, nonce: String?) async throws(TokenError) -> ForeignIdentity {
    try ForeignIdentity(
      token, from: provider, keys: KeySet([key.id: key.verificationKey]), nonce: nonce, at: clock.now())
  }

  func serviceAccountKey(_ email: String, id: KeyID?) -> VerificationKey? {
    email == Self.serviceAccount ? key.verificationKey : nil
  }

  /// An ID token as Google signs them.
  func googleToken(_ subject: String, audience: String = "game", email: String? = nil) throws -> String {
    let second = clock.now() / 1000
    return try key.token(
      JSON(fields: [
        ("iss", "https://accounts.google.com"), ("aud", .string(audience)), ("sub", .string(subject)), ("iat", .int(second)),
        ("exp", .int(second + 3600)), ("email", email.map(JSON.string)), ("email_verified", email.map { _ in true }),
        ("name", "Jim"),
      ]))
  }

  /// A custom token, as the studio's own server signs them.
  func customToken(_ uid: String?, claims: JSON? = nil) throws -> String {
    let second = clock.now() / 1000
    let account = JSON.string(Self.serviceAccount)
    return try key.token(
      JSON(fields: [
        ("iss", account), ("sub", account), ("aud", .string(CustomToken.audience)), ("iat", .int(second)),
        ("exp", .int(second + 3600)), ("uid", uid.map(JSON.string)), ("claims", claims),
      ]))
  }
}

extension AccountFixture {
  /// A sign-in by a provider's ID token.
  func signIn(token: String, of provider: String) async throws -> FederatedSignIn {
    guard let id = ProviderID(provider) else { throw AccountError.invalidIdentity(.unknownProvider) }
    var assertion = IdentityAssertion(provider: id)
    assertion.idToken = token
    return try await accounts.federation.signIn(assertion, idToken: { nil }, context: client)
  }

  /// A sign-in by a provider's access token.
  func signIn(accessToken: String?, of provider: String = "facebook.com") async throws -> FederatedSignIn {
    guard let id = ProviderID(provider) else { throw AccountError.invalidIdentity(.unknownProvider) }
    var assertion = IdentityAssertion(provider: id)
    assertion.accessToken = accessToken
    return try await accounts.federation.signIn(assertion, idToken: { nil }, context: client)
  }

  /// A sign-in by a custom token.
  func signIn(customToken: String) async throws -> Player {
    Player(try await accounts.signIn(customToken: customToken, context: client))
  }
}
