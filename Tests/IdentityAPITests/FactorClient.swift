import Credentials
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// A client with an authenticator.
struct FactorClient: Sendable {
  let client: IdentityClient

  var server: APIServer { client.server }

  /// A POST to a method of v2.
  func v2(_ method: String, _ body: JSON) async throws -> IdentityClient.Answer {
    try await client.send("POST", "/identitytoolkit.googleapis.com/v2/accounts/\(method)?key=k", body)
  }

  /// A player whose address is verified.
  func verifiedPlayer(_ email: String) async throws -> IdentityClient.Answer {
    let made = try await client.player(email)
    _ = try await client.admin("accounts:update", ["localId": .string(made.text("localId")), "emailVerified": true])
    return made
  }

  /// The code that an authenticator shows now.
  func code(_ secret: AuthenticatorSecret) -> String { secret.code(at: server.clock.now() / 30_000) }

  /// Enrols an authenticator for the account of a sign-in answer.
  func enrolAuthenticator(_ player: IdentityClient.Answer, name: String? = nil) async throws
    -> (AuthenticatorSecret, IdentityClient.Answer)
  {
    let token = JSON.string(player.text("idToken"))
    let started = try await v2("mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
    let info = try #require(started["totpSessionInfo"])
    let secret = try #require(AuthenticatorSecret(text: info["sharedSecretKey"]?.string ?? ""))
    let enrolled = try await v2(
      "mfaEnrollment:finalize",
      JSON(fields: [
        ("idToken", token), ("displayName", name.map(JSON.string)),
        (
          "totpVerificationInfo",
          ["sessionInfo": info["sessionInfo"] ?? .null, "verificationCode": .string(code(secret))]
        ),
      ]))
    try #require(enrolled.status == 200, "\(enrolled.error)")
    return (secret, enrolled)
  }

  /// Shows a code of an authenticator for a sign-in that waits for it.
  func finish(_ first: IdentityClient.Answer, _ id: String, _ code: String) async throws -> IdentityClient.Answer {
    try await v2(
      "mfaSignIn:finalize",
      [
        "mfaPendingCredential": .string(first.text("mfaPendingCredential")), "mfaEnrollmentId": .string(id),
        "totpVerificationInfo": ["verificationCode": .string(code)],
      ])
  }

  /// The last code that went to a telephone.
  func lastPhoneCode() async throws -> String {
    let codes = try await client.send("GET", "/emulator/v1/projects/game/verificationCodes")["verificationCodes"]?.array
    return codes?.last?["code"]?.string ?? ""
  }
}
