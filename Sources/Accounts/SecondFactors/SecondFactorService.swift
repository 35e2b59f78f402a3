import Credentials
import StorageCore

/// What a player shows beside the first credential.
package enum SecondCredential: Sendable {
  /// The code that was sent to one of the account's telephones.
  case phone(code: String, session: String)
  /// The code that the authenticator with an id shows.
  case authenticator(id: String, code: String)
}

/// Signing in with a second factor, and enrolling factors.
package struct SecondFactorService: Sendable {
  let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// The wait for a second factor: what the player may show, and with what the sign-in goes on.
  func needed(
    _ session: AccountSession, edit: @escaping @Sendable (inout AccountRecord) -> Void, in project: AccountProject
  ) -> SignInResult {
    let record = session.record
    let credential = accounts.newRefreshToken().text
    let now = accounts.clock.now()
    accounts.pendingFactors.add(
      PendingSignIn(
        project: project.scopeName, uid: record.uid, provider: session.provider, password: record.password,
        validSince: record.validSince, expiresAt: now + accounts.options.secondFactorLifetime, edit: edit),
      as: credential, at: now)
    return .secondFactorNeeded(credential: credential, factors: record.secondFactors)
  }

  /// Refuses a credential that waits for no second factor, or no longer.
  package func check(pending credential: String, of project: AccountProject) throws {
    _ = try pendingSignIn(credential, of: project)
  }

  /// Sends a code to a telephone of the player. An authenticator needs none.
  ///
  /// - `id`: which of the player's factors.
  /// - Returns: the session that the code is good for.
  package func sendCode(to id: String, pending credential: String, of project: AccountProject) throws -> String {
    let pending = try pendingSignIn(credential, of: project)
    let record = try accounts.account(pending.uid, of: project)
    guard let factor = record?.secondFactors.first(where: { $0.id == id }) else { throw AccountError.unknownSecondFactor }
    guard let number = factor.phoneNumber else { throw AccountError.notATelephone }
    return try accounts.phones.sendCode(to: number, for: .secondFactor(uid: pending.uid, id: id), of: project)
  }

  /// Completes a sign-in.
  ///
  /// - `credential`: what the first part of the sign-in gave.
  /// - `shown`: what the player shows now.
  package func finish(
    _ credential: String, shown: () throws -> SecondCredential, context: AccountContext
  ) async throws -> SignInResult {
    let waiting = try pendingSignIn(credential, of: context.project)
    // Six digits are soon guessed: a few attempts for each first credential, and a few for the account, from wherever they
    // come, because everybody who tries has the first credential. They are counted before they are judged.
    let key = "second factor of \(waiting.uid) in \(waiting.project)"
    try accounts.throttle.checkAttempt(key, from: "", at: accounts.clock.now())
    let attempted = accounts.pendingFactors.attempt(credential, of: context.project.scopeName, at: accounts.clock.now())
    guard let pending = attempted else { throw AccountError.invalidPendingCredential }
    accounts.throttle.noteFailure(key, from: "", at: accounts.clock.now())
    let factor = try shownFactor(try shown(), by: pending, of: context.project)
    let session = try await finish(pending, with: factor, context: context)
    accounts.pendingFactors.remove(credential)
    accounts.throttle.noteSuccess(key, from: "")
    return try accounts.result(of: session, in: context.project)
  }

  private func finish(_ pending: PendingSignIn, with shown: ShownFactor, context: AccountContext) async throws
    -> AccountSession
  {
    let refreshToken = accounts.newRefreshToken()
    let adjacent = try policy(of: context.project).adjacentSteps ?? SecondFactorPolicy.adjacentDefault
    return try await accounts.change(by: .user(uid: pending.uid), askingFor: context) { transaction in
      guard let before = try transaction.account(pending.uid) else { throw AccountError.unknownAccount }
      guard !before.isDisabled else { throw AccountError.disabledAccount }
      // What the first credential proved, it proved of the account as it was.
      guard before.password == pending.password, before.validSince == pending.validSince else {
        throw AccountError.invalidPendingCredential
      }
      guard let index = before.secondFactors.firstIndex(where: { $0.id == shown.id }) else {
        throw AccountError.unknownSecondFactor
      }
      var record = before
      pending.edit(&record)
      if case .authenticator(let bytes, let lastStep) = before.secondFactors[index].proof {
        let secret = AuthenticatorSecret(bytes: bytes)
        guard let code = shown.code, let step = secret.step(of: code, at: transaction.time, adjacent: adjacent, after: lastStep)
        else { throw AccountError.wrongOneTimeCode }
        record.secondFactors[index].proof = .authenticator(secret: bytes, lastStep: step)
      } else if shown.code != nil {
        throw AccountError.unknownSecondFactor
      }
      transaction.stamp(&record, by: pending.provider)
      try transaction.save(&record, from: before)
      let used = UsedFactor(kind: record.secondFactors[index].kind.rawValue, id: shown.id)
      return try transaction.open(record, by: pending.provider, factor: used, token: refreshToken)
    }
  }

  /// What the player showed: a telephone's code is checked already, an authenticator's is checked on the writer, where no two
  /// can use it.
  private struct ShownFactor: Sendable {
    let id: String
    let code: String?
  }

  private func shownFactor(_ shown: SecondCredential, by pending: PendingSignIn, of project: AccountProject) throws
    -> ShownFactor
  {
    switch shown {
    case .authenticator(let id, let code): return ShownFactor(id: id, code: code)
    case .phone(let code, let session):
      let factors = try accounts.account(pending.uid, of: project)?.secondFactors ?? []
      for factor in factors where factor.kind == .phone {
        do {
          _ = try accounts.sentCodes.redeem(
            session: session, code: code, for: .secondFactor(uid: pending.uid, id: factor.id), of: project.scopeName,
            at: accounts.clock.now())
          return ShownFactor(id: factor.id, code: nil)
        } catch AccountError.unknownCodeSession {
          // The session is another telephone's of the same player.
          continue
        }
      }
      throw AccountError.unknownCodeSession
    }
  }

  private func pendingSignIn(_ credential: String, of project: AccountProject) throws -> PendingSignIn {
    guard let pending = accounts.pendingFactors.signIn(credential, of: project.scopeName, at: accounts.clock.now()) else {
      throw AccountError.invalidPendingCredential
    }
    return pending
  }

  /// What players of a project may enrol.
  package func policy(of project: AccountProject) throws -> SecondFactorPolicy {
    try accounts.settings(of: project).secondFactors ?? (accounts.options.isDevelopment ? .all : .none)
  }
}
