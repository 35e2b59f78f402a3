import Credentials
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

@testable import Doubloon

/// An authenticator as second factor, from enrolment to the next sign-in, against the server.
@Suite(.timeLimit(.minutes(5))) struct SecondFactorTests {
  private static let address = "ann@acme.test"

  /// A player whose address is confirmed, and who is signed in.
  private static func player(_ server: AppServer, _ auth: Auth) async throws -> User {
    let user = try await auth.createUser(withEmail: address, password: "secret1").user
    let made = try await server.identity.admin("accounts:update", ["localId": .string(user.uid), "emailVerified": true])
    #expect(made.status == 200)
    return user
  }

  /// The code that the authenticator shows now.
  private static func code(_ secret: TOTPSecret, _ server: AppServer) throws -> String {
    try #require(AuthenticatorSecret(text: secret.sharedSecretKey)).code(at: server.api.clock.now() / 30_000)
  }

  @Test(
    "an authenticator is enrolled; the next sign-in needs its code, and a wrong one can be mended; taken away, it needs none")
  func wholeWay() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await Self.player(server, auth)
      let secret = try await TOTPMultiFactorGenerator.generateSecret(with: try await user.multiFactor.getSession())
      #expect(
        secret.generateQRCodeURL(withAccountName: Self.address, issuer: "Acme").contains("secret=\(secret.sharedSecretKey)"))
      let enrolment = TOTPMultiFactorGenerator.assertionForEnrollment(
        with: secret, oneTimePassword: try Self.code(secret, server))
      try await user.multiFactor.enroll(with: enrolment, displayName: "My phone")
      let factors = try await user.multiFactor.enrolledFactors()
      #expect(factors.map(\.displayName) == ["My phone"] && factors.map(\.factorID) == ["totp"])

      try auth.signOut()
      let error = await failure { try await auth.signIn(withEmail: Self.address, password: "secret1") }
      #expect(number(of: error) == 17078 && auth.currentUser == nil)
      let resolver = try #require((error as? AuthError)?.resolver)
      #expect(resolver.hints == factors)
      let id = try #require(resolver.hints.first?.uid)
      func assertion(_ code: String) -> MultiFactorAssertion {
        TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: id, oneTimePassword: code)
      }
      // A code counts once: the authenticator shows the next one after half a minute.
      server.api.clock.advance(by: 30_000)
      let right = try Self.code(secret, server)
      let wrong = await failure { try await resolver.resolveSignIn(with: assertion(right == "000000" ? "000001" : "000000")) }
      #expect((wrong as? AuthError)?.code == .invalidVerificationCode)
      #expect(auth.currentUser == nil)
      let result = try await resolver.resolveSignIn(with: assertion(right))
      #expect(result.user.uid == user.uid && auth.currentUser?.uid == user.uid)

      try await result.user.multiFactor.unenroll(withFactorUID: id)
      #expect(try await result.user.multiFactor.enrolledFactors() == [])
      try auth.signOut()
      try await auth.signIn(withEmail: Self.address, password: "secret1")
      #expect(auth.currentUser?.uid == user.uid)
    }
  }

  @Test("a player whose address is not confirmed is told so; a wrong first code enrols nothing")
  func refused() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let eve = try await auth.createUser(withEmail: "eve@acme.test", password: "secret1").user
      let unverified = await failure {
        _ = try await TOTPMultiFactorGenerator.generateSecret(with: try await eve.multiFactor.getSession())
      }
      #expect((unverified as? AuthError)?.code == .unverifiedEmail)
      let user = try await Self.player(server, auth)
      let secret = try await TOTPMultiFactorGenerator.generateSecret(with: try await user.multiFactor.getSession())
      let right = try Self.code(secret, server)
      let wrong = await failure {
        try await user.multiFactor.enroll(
          with: TOTPMultiFactorGenerator.assertionForEnrollment(
            with: secret, oneTimePassword: right == "000000" ? "000001" : "000000"), displayName: nil)
      }
      #expect((wrong as? AuthError)?.code == .invalidVerificationCode)
      #expect(try await user.multiFactor.enrolledFactors() == [])
    }
  }
}
