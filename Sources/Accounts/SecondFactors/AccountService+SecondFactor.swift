import Credentials
import StorageCore
package import TreeModel

/// Signing in with a second factor (`/v2/accounts/mfaSignIn`; spec: auth-protocol §2.6).
extension AccountService {
  /// The members of an answer that asks for a second factor: what the player may show, and with what the sign-in goes on.
  func secondFactorNeeded(
    _ session: AccountSession, _ edit: @escaping @Sendable (inout AccountRecord) -> Void, of project: AccountProject
  ) -> [(String, JSON?)] {
    let record = session.record
    let credential = newRefreshToken().text
    let now = clock.now()
    secondFactors.add(
      PendingSignIn(
        project: project.name, uid: record.uid, provider: session.provider, password: record.password,
        validSince: record.validSince, expiresAt: now + options.secondFactorLifetime, edit: edit), as: credential, at: now)
    return [
      ("mfaPendingCredential", .string(credential)),
      ("mfaInfo", .array(record.secondFactors.map { UserJSON.factor($0, .masked) })),
    ]
  }

  /// `mfaSignIn:start`: a code goes to the telephone. An authenticator needs none.
  package func startSecondFactor(_ call: IdentityCall) throws(AccountError) -> JSON {
    let (_, pending) = try pendingSignIn(call)
    let id = try call.required("mfaEnrollmentId", "MISSING_MFA_ENROLLMENT_ID")
    let record = try account(pending.uid, of: call.project)
    guard let factor = record?.secondFactors.first(where: { $0.id == id }) else {
      throw AccountError("MFA_ENROLLMENT_NOT_FOUND")
    }
    guard let number = factor.phoneNumber else {
      throw AccountError("INVALID_ARGUMENT", "((Only a telephone is sent a code.))")
    }
    let session = try sendCode(to: number, for: .secondFactor(uid: pending.uid, id: id), call)
    return ["phoneResponseInfo": ["sessionInfo": .string(session)]]
  }

  /// `mfaSignIn:finalize`: the sign-in is complete.
  package func finishSecondFactor(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let (credential, waiting) = try pendingSignIn(call)
    // Six digits are soon guessed: a few attempts for each first credential, and a few for the account, wherever they come
    // from, for whoever makes them has the first credential. They are counted before they are judged.
    let key = "second factor of \(waiting.uid) in \(waiting.project)"
    try throttle.checkAttempt(key, from: "", at: clock.now())
    guard let pending = secondFactors.attempt(credential, of: call.project.name, at: clock.now()) else {
      throw AccountError("INVALID_MFA_PENDING_CREDENTIAL")
    }
    throttle.noteFailure(key, from: "", at: clock.now())
    let session = try await finish(pending, call)
    secondFactors.remove(credential)
    throttle.noteSuccess(key, from: "")
    return JSON(fields: try tokens(session, of: call.project))
  }

  private func finish(_ pending: PendingSignIn, _ call: IdentityCall) async throws(AccountError) -> AccountSession {
    let shown = try shownFactor(pending, call)
    let refreshToken = newRefreshToken()
    let adjacent = try secondFactorPolicy(of: call.project).adjacentSteps ?? SecondFactorPolicy.all.adjacentSteps ?? 0
    return try await change(call.project, by: .user(uid: pending.uid)) { (bench) throws(AccountError) in
      guard let before = try bench.account(pending.uid) else { throw AccountError("USER_NOT_FOUND") }
      guard !before.isDisabled else { throw AccountError("USER_DISABLED") }
      // What the first credential proved, it proved of the account as it was.
      guard before.password == pending.password, before.validSince == pending.validSince else {
        throw AccountError("INVALID_MFA_PENDING_CREDENTIAL")
      }
      guard let index = before.secondFactors.firstIndex(where: { $0.id == shown.id }) else {
        throw AccountError("MFA_ENROLLMENT_NOT_FOUND")
      }
      var record = before
      pending.edit(&record)
      if case .authenticator(let bytes, let lastStep) = before.secondFactors[index].proof {
        let secret = AuthenticatorSecret(bytes: bytes)
        guard let code = shown.code, let step = secret.step(of: code, at: bench.time, adjacent: adjacent, after: lastStep)
        else { throw AccountError("INVALID_CODE") }
        record.secondFactors[index].proof = .authenticator(secret: bytes, lastStep: step)
      } else if shown.code != nil {
        throw AccountError("MFA_ENROLLMENT_NOT_FOUND")
      }
      bench.stamp(&record, by: pending.provider)
      try bench.save(record, from: before)
      let used = UsedFactor(kind: record.secondFactors[index].kind.rawValue, id: shown.id)
      return try bench.open(record, by: pending.provider, factor: used, refreshToken)
    }
  }

  /// What the player showed: the telephone's code is checked already, the authenticator's is checked on the writer, where no
  /// two can use it.
  private struct ShownFactor: Sendable {
    let id: String
    let code: String?
  }

  private func shownFactor(_ pending: PendingSignIn, _ call: IdentityCall) throws(AccountError) -> ShownFactor {
    if let info = try call.fields.object("phoneVerificationInfo") {
      guard let session = try info.text("sessionInfo") else { throw AccountError("MISSING_SESSION_INFO") }
      guard let code = try info.text("code") else { throw AccountError("MISSING_CODE") }
      let factors = try account(pending.uid, of: call.project)?.secondFactors ?? []
      for factor in factors where factor.kind == .phone {
        let purpose = PhoneCodePurpose.secondFactor(uid: pending.uid, id: factor.id)
        do throws(AccountError) {
          _ = try sentCodes.redeem(session: session, code: code, for: purpose, of: call.project.name, at: clock.now())
          return ShownFactor(id: factor.id, code: nil)
        } catch {
          // The session is another telephone's of the same player.
          if error.code == "INVALID_SESSION_INFO" { continue }
          throw error
        }
      }
      throw AccountError("INVALID_SESSION_INFO")
    }
    guard let info = try call.fields.object("totpVerificationInfo") else {
      throw AccountError("INVALID_ARGUMENT", "((Missing phoneVerificationInfo or totpVerificationInfo.))")
    }
    let id = try call.required("mfaEnrollmentId", "MISSING_MFA_ENROLLMENT_ID")
    guard let code = try info.text("verificationCode") else { throw AccountError("MISSING_CODE") }
    return ShownFactor(id: id, code: code)
  }

  private func pendingSignIn(_ call: IdentityCall) throws(AccountError) -> (String, PendingSignIn) {
    let credential = try call.required("mfaPendingCredential", "MISSING_MFA_PENDING_CREDENTIAL")
    guard let pending = secondFactors.signIn(credential, of: call.project.name, at: clock.now()) else {
      throw AccountError("INVALID_MFA_PENDING_CREDENTIAL")
    }
    return (credential, pending)
  }
}
