package import Credentials
import StorageCore

/// An authenticator that a player is to set up.
package struct AuthenticatorEnrollment: Sendable {
  package let secret: AuthenticatorSecret
  /// With what the enrolment is finished.
  package let session: String
  /// Until when, in milliseconds since 1970.
  package let expiresAt: Int64
}

/// What shows that a player has the factor to be enrolled.
package enum EnrollmentProof: Sendable {
  /// The code that was sent to the telephone.
  case phone(code: String, session: String)
  /// The code that the authenticator shows.
  case authenticator(code: String, session: String)
}

/// Enrolling second factors, and taking them back.
extension SecondFactorService {
  /// A player who may enrol: the account, and what the token says.
  package struct Enrollee: Sendable {
    let token: IDToken
    let record: AccountRecord
  }

  /// The player whom a token stands for, signed in recently enough to change second factors.
  package func enrollee(idToken: String?, of project: AccountProject) throws -> Enrollee {
    guard let token = try accounts.caller(idToken, of: project) else { throw AccountError.missingIDToken }
    let record = try accounts.account(of: token, in: project)
    try AccountRules.checkRecent(token, account: record, options: accounts.options, at: accounts.clock.now())
    return Enrollee(token: token, record: record)
  }

  /// Refuses a player who may not enrol a factor now.
  package func checkEnrolling(_ enrollee: Enrollee) throws {
    try Self.checkEnrolling(enrollee.record, token: enrollee.token)
  }

  /// Sends a code to a telephone that is to be enrolled.
  ///
  /// - Returns: the session that the code is good for.
  package func enroll(phone number: PhoneNumber, enrollee: Enrollee, of project: AccountProject) throws -> String {
    try checkEnrolling(enrollee)
    guard try policy(of: project).allowsPhone else { throw AccountError.phoneFactorsDisabled }
    guard !enrollee.record.secondFactors.contains(where: { $0.phoneNumber == number.text }) else {
      throw AccountError.secondFactorTaken
    }
    return try accounts.phones.sendCode(to: number.text, for: .enrollment(uid: enrollee.record.uid), of: project)
  }

  /// Gives the player the secret for an authenticator.
  package func enrollAuthenticator(_ enrollee: Enrollee, of project: AccountProject) throws -> AuthenticatorEnrollment {
    try checkEnrolling(enrollee)
    guard try policy(of: project).adjacentSteps != nil else { throw AccountError.authenticatorsDisabled }
    let now = accounts.clock.now()
    let session = accounts.newRefreshToken().text
    let secret = accounts.newAuthenticatorSecret()
    let expiresAt = now + accounts.options.secondFactorLifetime
    let pending = PendingEnrollment(
      project: project.scopeName, uid: enrollee.record.uid, secret: secret, expiresAt: expiresAt)
    guard accounts.pendingFactors.add(pending, as: session, at: now) else {
      throw AccountError.unavailable("Too many players enrol at once; try again in a minute.")
    }
    return AuthenticatorEnrollment(secret: secret, session: session, expiresAt: expiresAt)
  }

  /// Enrols the factor that the player has shown to have. The tokens of the answer bear it.
  package func finishEnrollment(
    _ proof: EnrollmentProof, displayName: String?, enrollee: Enrollee, of project: AccountProject
  ) async throws -> SignInResult {
    let proof = try proven(proof, enrollee: enrollee, of: project)
    let id = accounts.newUID()
    let refreshToken = accounts.newRefreshToken()
    let session = try await accounts.change(project, by: .user(uid: enrollee.record.uid)) { transaction in
      let before = try transaction.caller(enrollee.token)
      try Self.checkEnrolling(before, token: enrollee.token)
      try Self.checkShown(before, token: enrollee.token)
      let factor = SecondFactor(id: id, displayName: displayName, enrolledAt: transaction.time, proof: proof)
      guard factor.phoneNumber == nil || !before.secondFactors.contains(where: { $0.phoneNumber == factor.phoneNumber }) else {
        throw AccountError.secondFactorTaken
      }
      var record = before
      record.secondFactors.append(factor)
      try transaction.save(&record, from: before)
      let used = UsedFactor(kind: factor.kind.rawValue, id: factor.id)
      return try transaction.begin(
        record, by: enrollee.token.provider, factor: used, authTime: enrollee.token.authTime, token: refreshToken)
    }
    return try accounts.result(of: session, in: project)
  }

  /// Takes a factor back.
  package func withdraw(_ id: String, enrollee: Enrollee, of project: AccountProject) async throws -> SignInResult {
    let refreshToken = accounts.newRefreshToken()
    let session = try await accounts.change(project, by: .user(uid: enrollee.record.uid)) { transaction in
      let before = try transaction.caller(enrollee.token)
      guard before.secondFactors.contains(where: { $0.id == id }) else { throw AccountError.unknownSecondFactor }
      try Self.checkShown(before, token: enrollee.token)
      var record = before
      record.secondFactors.removeAll { $0.id == id }
      try transaction.save(&record, from: before)
      let used = enrollee.token.secondFactor
      return try transaction.begin(
        record, by: enrollee.token.provider, factor: used?.id == id ? nil : used, authTime: enrollee.token.authTime,
        token: refreshToken)
    }
    return try accounts.result(of: session, in: project)
  }

  /// What the player proved to have.
  private func proven(_ proof: EnrollmentProof, enrollee: Enrollee, of project: AccountProject) throws
    -> SecondFactor.Proof
  {
    let now = accounts.clock.now()
    switch proof {
    case .phone(let code, let session):
      return .phone(
        number: try accounts.sentCodes.redeem(
          session: session, code: code, for: .enrollment(uid: enrollee.record.uid), of: project.scopeName, at: now))
    case .authenticator(let code, let session):
      let known = accounts.pendingFactors.enrollment(session, of: project.scopeName, at: now)
      guard let pending = known, pending.uid == enrollee.record.uid else { throw AccountError.unknownCodeSession }
      let adjacent = try policy(of: project).adjacentSteps ?? 0
      guard let step = pending.secret.step(of: code, at: now, adjacent: adjacent, after: -1) else {
        throw AccountError.wrongOneTimeCode
      }
      accounts.pendingFactors.remove(enrollment: session)
      return .authenticator(secret: pending.secret.bytes, lastStep: step)
    }
  }

  /// Only beside a credential that somebody could steal, and only where the account can be got back by mail.
  private static func checkEnrolling(_ record: AccountRecord, token: IDToken) throws {
    guard !["", "anonymous", "phone", "custom"].contains(token.provider) else { throw AccountError.unsupportedFirstFactor }
    guard record.email != nil, record.isEmailVerified else { throw AccountError.unverifiedEmail }
    guard record.secondFactors.count < SecondFactor.most else { throw AccountError.tooManySecondFactors }
  }

  /// A session of before the first factor neither takes it away nor adds another: its token may be anybody's by now.
  private static func checkShown(_ record: AccountRecord, token: IDToken) throws {
    guard record.secondFactors.isEmpty || record.secondFactors.contains(where: { $0.id == token.secondFactor?.id }) else {
      throw AccountError.signInTooOld
    }
  }
}
