import Doubloon
import Foundation

/// The page AccountsOfPlayers.
enum Accounts {
  static func run() async throws {
    let (email, password) = ("ann@example.com", "correct horse")
    _ = try await Auth.auth().createUser(withEmail: email, password: password)
    try Auth.auth().signOut()

    let player = try await Auth.auth().signInAnonymously().user
    for await user in Auth.auth().authStateChanges {
      print(user.map { $0.isAnonymous ? "somebody without a name" : "somebody known" } ?? "nobody")
      break
    }

    switch try await player.upgrade(with: EmailAuthProvider.credential(withEmail: email, password: password)) {
    case .linked(let user):
      print("still \(user.uid), and known by \(user.email ?? "")")
    case .taken(let existing, let anonymous):
      // Ask the player first: what the anonymous account has stays with it.
      let known = try await Auth.auth().signIn(with: existing).user
      print(known.uid == anonymous.uid ? "the same" : "another account, with what it had")
    }

    try Auth.auth().signOut()
    try await signIn(email, "wrong") { _ in "" }
  }

  static func signIn(_ email: String, _ password: String, askForCode: (MultiFactorInfo) async -> String) async throws {
    do {
      try await Auth.auth().signIn(withEmail: email, password: password)
    } catch let error as AuthError where error.code == .secondFactorRequired {
      guard let resolver = error.resolver, let factor = resolver.hints.first else { throw error }
      let code = await askForCode(factor)
      let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: factor.uid, oneTimePassword: code)
      try await resolver.resolveSignIn(with: assertion)
    } catch let error as AuthError where [.wrongPassword, .invalidCredential].contains(error.code) {
      print("the address or the password is wrong")
    }
  }
}
