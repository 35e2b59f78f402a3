import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// An authenticator that a player has set up.
struct Authenticator {
  let id: String
  let secret: AuthenticatorSecret
}

extension AccountFixture {
  /// The code that an authenticator shows now.
  func code(_ secret: AuthenticatorSecret) -> String {
    secret.code(at: clock.now() / 1000 / AuthenticatorSecret.period)
  }

  func enrollee(_ player: Player) throws -> SecondFactorService.Enrollee {
    try accounts.secondFactors.enrollee(idToken: player.idToken, of: project)
  }

  /// Sets up an authenticator.
  ///
  /// - Returns: it, and the player with the tokens that bear it.
  func enrolAuthenticator(_ player: Player, name: String? = nil) async throws -> (Authenticator, Player) {
    let enrollee = try enrollee(player)
    let begun = try accounts.secondFactors.enrollAuthenticator(enrollee, of: project)
    let result = try await accounts.secondFactors.finishEnrollment(
      .authenticator(code: code(begun.secret), session: begun.session), displayName: name, enrollee: enrollee, of: project)
    let enrolled = Player(account: try record(player.uid), result: result)
    let id = try #require(try token(enrolled).secondFactor?.id)
    return (Authenticator(id: id, secret: begun.secret), enrolled)
  }

  /// Sets up a telephone.
  func enrol(_ number: PhoneNumber, for player: Player) async throws -> Player {
    let enrollee = try enrollee(player)
    let session = try accounts.secondFactors.enroll(phone: number, enrollee: enrollee, of: project)
    let result = try await accounts.secondFactors.finishEnrollment(
      .phone(code: phoneCode(of: session).code, session: session), displayName: nil, enrollee: enrollee, of: project)
    return Player(account: try record(player.uid), result: result)
  }

  /// Shows a second credential for a sign-in that waits for it.
  @discardableResult
  func finish(_ waiting: Player, with shown: SecondCredential) async throws -> Player {
    let credential = try #require(waiting.pending)
    let result = try await accounts.secondFactors.finish(credential, shown: { shown }, context: client)
    return Player(account: try record(waiting.uid), result: result)
  }

  /// Shows the code that an authenticator shows now.
  @discardableResult
  func finish(_ waiting: Player, with authenticator: Authenticator) async throws -> Player {
    try await finish(waiting, with: .authenticator(id: authenticator.id, code: code(authenticator.secret)))
  }

  /// Withdraws a factor.
  @discardableResult
  func withdraw(_ id: String, of player: Player) async throws -> Player {
    let result = try await accounts.secondFactors.withdraw(id, enrollee: enrollee(player), of: project)
    return Player(account: try record(player.uid), result: result)
  }
}
