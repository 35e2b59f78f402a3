import ClientRuntime
import Foundation
import ServerTestSupport
import Testing
import TreeModel

@testable import Doubloon

/// What players do with their accounts, against a real server.
@Suite struct AuthAccountTests {
  @Test("a profile is changed, and a second device sees it")
  func profile() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.createUser(withEmail: "ann@acme.test", password: "secret1").user
      let request = user.createProfileChangeRequest()
      request.displayName = "Ann"
      request.photoURL = URL(string: "https://acme.test/ann.png")
      try await request.commitChanges()
      #expect(user.displayName == "Ann")
      let other = try await server.app("other").authentication.signIn(withEmail: "ann@acme.test", password: "secret1").user
      #expect(other.displayName == "Ann")
      #expect(other.photoURL?.absoluteString == "https://acme.test/ann.png")
      #expect(other.metadata.creationDate != nil)
    }
  }

  @Test("a reload shows what an administrator changed")
  func reload() async throws {
    try await AppServer.run { server in
      let user = try await server.app().authentication.createUser(withEmail: "ann@acme.test", password: "secret1").user
      let changed = try await server.identity.admin(
        "accounts:update", ["localId": .string(user.uid), "displayName": "Annie", "emailVerified": true])
      #expect(changed.status == 200)
      #expect(user.displayName == nil)
      try await user.reload()
      #expect(user.displayName == "Annie")
      #expect(user.isEmailVerified)
    }
  }

  @Test("a disabled player is signed out by the next call")
  func disabled() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      _ = try await server.identity.admin("accounts:update", ["localId": .string(user.uid), "disableUser": true])
      let error = await failure { _ = try await user.getIDToken(forcingRefresh: true) }
      #expect((error as? AuthError)?.code == .userDisabled)
      #expect(auth.currentUser == nil)
    }
  }

  @Test("the password and the address are changed, and a provider is unlinked")
  func changes() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.createUser(withEmail: "ann@acme.test", password: "secret1").user
      try await user.updatePassword(to: "secret2")
      try await user.reauthenticate(with: EmailAuthProvider.credential(withEmail: "ann@acme.test", password: "secret2"))
      let google = OAuthProvider.credential(
        withProviderID: "google.com", idToken: #"{"sub":"77","email":"ann@acme.test","email_verified":true}"#)
      try await user.link(with: google)
      #expect(Set(user.providerData.map(\.providerID)) == ["password", "google.com"])
      try await user.unlink(fromProvider: "google.com")
      #expect(user.providerData.map(\.providerID) == ["password"])
      let error = await failure { try await user.unlink(fromProvider: "google.com") }
      #expect((error as? AuthError)?.code == .noSuchProvider)
      #expect(auth.currentUser === user)
    }
  }

  @Test("an identity that another account has is offered for signing in")
  func takenIdentity() async throws {
    try await AppServer.run { server in
      let google = GoogleAuthProvider.credential(withIDToken: #"{"sub":"78","email":"g@acme.test"}"#, accessToken: "a")
      let owner = try await server.app("other").authentication.signIn(with: google)
      #expect(owner.additionalUserInfo?.isNewUser == true)
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      let error = await failure { try await user.link(with: google) }
      #expect((error as? AuthError)?.code == .credentialAlreadyInUse)
      let updated = try #require((error as? AuthError)?.updatedCredential)
      #expect(auth.currentUser === user)
      #expect(try await auth.signIn(with: updated).uid == owner.uid)
    }
  }

  @Test("a custom token signs in")
  func customToken() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let result = try await auth.signIn(withCustomToken: #"{"uid":"captain","claims":{"rank":3}}"#)
      #expect(result.user.uid == "captain")
      #expect(!result.user.isAnonymous)
      let token = try await result.user.getIDTokenResult()
      #expect(token.signInProvider == "custom")
      #expect((token.claims["rank"] as? NSNumber)?.intValue == 3)
    }
  }

  @Test("mailed codes: a password is reset, an address is confirmed, a link signs in")
  func codes() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.createUser(withEmail: "ann@acme.test", password: "secret1").user
      try await user.sendEmailVerification()
      try await auth.applyActionCode(try await server.identity.lastCode())
      try await user.reload()
      #expect(user.isEmailVerified)
      try await auth.sendPasswordReset(withEmail: "ann@acme.test")
      let code = try await server.identity.lastCode()
      #expect(try await auth.verifyPasswordResetCode(code) == "ann@acme.test")
      try await auth.confirmPasswordReset(withCode: code, newPassword: "secret3")
      try await auth.signIn(withEmail: "ann@acme.test", password: "secret3")
      var settings = ActionCodeSettings()
      settings.url = URL(string: "http://localhost/play")
      settings.handleCodeInApp = true
      try await auth.sendSignInLink(toEmail: "bob@acme.test", actionCodeSettings: settings)
      let link = "https://acme.test/open?mode=signIn&oobCode=\(try await server.identity.lastCode())&apiKey=k"
      #expect(auth.isSignIn(withEmailLink: link))
      #expect(!auth.isSignIn(withEmailLink: "https://acme.test/open?oobCode=1"))
      let bob = try await auth.signIn(withEmail: "bob@acme.test", link: link).user
      #expect(bob.isEmailVerified)
    }
  }

  @Test("a deleted player is gone, and signed out")
  func delete() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let user = try await auth.signInAnonymously().user
      try await user.delete()
      #expect(auth.currentUser == nil)
      #expect(try await auth.signInAnonymously().uid != user.uid)
    }
  }

  @Test("players of a tenant are other players: one address stands at each, and a session stays at its own")
  func tenants() async throws {
    try await AppServer.run { server in
      let auth = server.app().authentication
      let plain = try await auth.createUser(withEmail: "ann@x.io", password: "secret1").user
      #expect(plain.tenantID == nil)
      auth.tenantID = "brand-a"
      let branded = try await auth.createUser(withEmail: "ann@x.io", password: "secret2").user
      #expect(branded.uid != plain.uid && branded.tenantID == "brand-a")
      auth.tenantID = nil
      try await branded.reload()
      #expect(auth.currentUser?.tenantID == "brand-a")
      #expect(try await auth.signIn(withEmail: "ann@x.io", password: "secret1").user.uid == plain.uid)
    }
  }

  @Test("a second factor is enrolled, and the next sign-in is completed by the resolver")
  func secondFactor() async throws {
    try await AppServer.run { server in
      let http = server.counting()
      let auth = server.app(http: http).authentication
      http.answer { request in
        guard request.target.hasPrefix("/v1/accounts:signInWithPassword") else { return nil }
        let json: JSON = [
          "mfaPendingCredential": "pending",
          "mfaInfo": [["mfaEnrollmentId": "f1", "displayName": "Phone", "totpInfo": [:]]],
        ]
        return HTTPResponse(status: 200, headers: [], body: Array(json.compactText.utf8))
      }
      let error = await failure { try await auth.signIn(withEmail: "ann@acme.test", password: "secret1") }
      #expect(number(of: error) == 17078)
      let resolver = try #require((error as? AuthError)?.resolver)
      #expect(resolver.hints.map(\.uid) == ["f1"])
      #expect(resolver.hints.map(\.factorID) == ["totp"])
      #expect(auth.currentUser == nil)
      let wrong = await failure {
        try await resolver.resolveSignIn(
          with: TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: "f1", oneTimePassword: "000000"))
      }
      // The real server does not know that sign-in.
      #expect((wrong as? AuthError)?.code == .invalidMultiFactorSession)
    }
  }

  @Test("closures run once, on the callback queue")
  func closures() async throws {
    try await AppServer.run { server in
      let key = DispatchSpecificKey<Bool>()
      let app = server.app { $0.callbackQueue.setSpecific(key: key, value: true) }
      let auth = app.authentication
      let uid: String = await withCheckedContinuation { continuation in
        auth.signInAnonymously { user, error in
          #expect(error == nil)
          continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true ? user?.uid ?? "" : "another queue")
        }
      }
      #expect(uid == auth.currentUser?.uid)
      let told: String? = await withCheckedContinuation { continuation in
        let isFirst = Locked(true)
        let handle = auth.addStateDidChangeListener { _, user in
          let wasFirst = isFirst.withLock { first in
            defer { first = false }
            return first
          }
          guard wasFirst else { return }
          continuation.resume(returning: user?.uid)
        }
        auth.removeStateDidChangeListener(handle)
      }
      #expect(told == uid)
    }
  }
}
