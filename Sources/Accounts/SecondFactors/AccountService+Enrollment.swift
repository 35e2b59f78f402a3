import Credentials
import StorageCore
import TextFormats
package import TreeModel

/// Enrolling second factors, and taking them back (`/v2/accounts/mfaEnrollment`; spec: auth-protocol §2.6).
extension AccountService {
  /// Whose account it is, and what the token of the call says.
  private struct Enrollee {
    let token: IDToken
    let record: AccountRecord
  }

  /// `mfaEnrollment:start`: a code goes to the telephone, or the player gets the secret for an authenticator.
  package func startEnrollment(_ call: IdentityCall) throws(AccountError) -> JSON {
    let enrollee = try enrollee(call)
    try Self.checkEnrolling(enrollee.record, enrollee.token)
    let policy = try secondFactorPolicy(of: call.project)
    if let info = try call.fields.object("phoneEnrollmentInfo") {
      guard policy.allowsPhone else { throw AccountError("OPERATION_NOT_ALLOWED", "SMS based MFA not enabled.") }
      let number = try PhoneNumber.checked(try info.text("phoneNumber") ?? "")
      guard !enrollee.record.secondFactors.contains(where: { $0.phoneNumber == number }) else { throw Self.numberExists }
      return [
        "phoneSessionInfo": ["sessionInfo": .string(try sendCode(to: number, for: .enrollment(uid: enrollee.record.uid), call))]
      ]
    }
    guard try call.fields.object("totpEnrollmentInfo") != nil else {
      throw AccountError("INVALID_ARGUMENT", "((Missing phoneEnrollmentInfo or totpEnrollmentInfo.))")
    }
    guard policy.adjacentSteps != nil else { throw AccountError("OPERATION_NOT_ALLOWED", "TOTP based MFA not enabled.") }
    let now = clock.now()
    let session = newRefreshToken().text
    let secret = newAuthenticatorSecret()
    let expiresAt = now + options.secondFactorLifetime
    let pending = PendingEnrollment(
      project: call.project.name, uid: enrollee.record.uid, secret: secret, expiresAt: expiresAt)
    guard secondFactors.add(pending, as: session, at: now) else {
      throw .unavailable("Too many players enrol at once; try again in a minute.")
    }
    return [
      "totpSessionInfo": [
        "sharedSecretKey": .string(secret.text), "verificationCodeLength": .int(Int64(AuthenticatorSecret.digits)),
        "hashingAlgorithm": .string(AuthenticatorSecret.algorithm), "periodSec": .int(AuthenticatorSecret.period),
        "sessionInfo": .string(session), "finalizeEnrollmentTime": .string(CalendarTime(milliseconds: expiresAt).rfc3339),
      ]
    ]
  }

  /// `mfaEnrollment:finalize`: the code shows that the player has it. The tokens of the answer bear the new factor.
  package func finishEnrollment(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let enrollee = try enrollee(call)
    let proof = try enrolled(call, enrollee)
    let displayName = try call.fields.text("displayName")
    let id = newUID()
    let refreshToken = newRefreshToken()
    let session = try await change(call.project, by: .user(uid: enrollee.record.uid)) { (bench) throws(AccountError) in
      let before = try bench.caller(enrollee.token)
      try Self.checkEnrolling(before, enrollee.token)
      try Self.checkShown(before, enrollee.token)
      let factor = SecondFactor(id: id, displayName: displayName, enrolledAt: bench.time, proof: proof)
      guard factor.phoneNumber == nil || !before.secondFactors.contains(where: { $0.phoneNumber == factor.phoneNumber }) else {
        throw Self.numberExists
      }
      var record = before
      record.secondFactors.append(factor)
      try bench.save(record, from: before)
      let used = UsedFactor(kind: factor.kind.rawValue, id: factor.id)
      return try bench.open(
        record, by: enrollee.token.provider, factor: used, authTime: enrollee.token.authTime, refreshToken)
    }
    return JSON(fields: try tokens(session, of: call.project))
  }

  /// `mfaEnrollment:withdraw`.
  package func withdrawEnrollment(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let enrollee = try enrollee(call)
    let id = try call.required("mfaEnrollmentId", "MISSING_MFA_ENROLLMENT_ID")
    let refreshToken = newRefreshToken()
    let session = try await change(call.project, by: .user(uid: enrollee.record.uid)) { (bench) throws(AccountError) in
      let before = try bench.caller(enrollee.token)
      guard before.secondFactors.contains(where: { $0.id == id }) else { throw AccountError("MFA_ENROLLMENT_NOT_FOUND") }
      try Self.checkShown(before, enrollee.token)
      var record = before
      record.secondFactors.removeAll { $0.id == id }
      try bench.save(record, from: before)
      let used = enrollee.token.secondFactor
      return try bench.open(
        record, by: enrollee.token.provider, factor: used?.id == id ? nil : used, authTime: enrollee.token.authTime,
        refreshToken)
    }
    return JSON(fields: try tokens(session, of: call.project))
  }

  /// What the player proved to have.
  private func enrolled(_ call: IdentityCall, _ enrollee: Enrollee) throws(AccountError) -> SecondFactor.Proof {
    let now = clock.now()
    let project = call.project.name
    if let info = try call.fields.object("phoneVerificationInfo") {
      guard let session = try info.text("sessionInfo") else { throw AccountError("MISSING_SESSION_INFO") }
      guard let code = try info.text("code") else { throw AccountError("MISSING_CODE") }
      let purpose = PhoneCodePurpose.enrollment(uid: enrollee.record.uid)
      return .phone(number: try sentCodes.redeem(session: session, code: code, for: purpose, of: project, at: now))
    }
    guard let info = try call.fields.object("totpVerificationInfo") else {
      throw AccountError("INVALID_ARGUMENT", "((Missing phoneVerificationInfo or totpVerificationInfo.))")
    }
    guard let session = try info.text("sessionInfo") else { throw AccountError("MISSING_SESSION_INFO") }
    guard let code = try info.text("verificationCode") else { throw AccountError("MISSING_CODE") }
    guard let pending = secondFactors.enrollment(session, of: project, at: now), pending.uid == enrollee.record.uid else {
      throw AccountError("INVALID_SESSION_INFO")
    }
    let adjacent = try secondFactorPolicy(of: call.project).adjacentSteps ?? 0
    guard let step = pending.secret.step(of: code, at: now, adjacent: adjacent, after: -1) else {
      throw AccountError("INVALID_CODE")
    }
    secondFactors.remove(enrollment: session)
    return .authenticator(secret: pending.secret.bytes, lastStep: step)
  }

  private func enrollee(_ call: IdentityCall) throws(AccountError) -> Enrollee {
    guard let token = try caller(of: call) else { throw AccountError("MISSING_ID_TOKEN") }
    let record = try AccountRules.caller(token, try account(token.uid, of: call.project))
    try AccountRules.checkRecent(token, record, options, at: clock.now())
    return Enrollee(token: token, record: record)
  }

  /// Only beside a credential that somebody could steal, and only where the account can be got back by mail.
  private static func checkEnrolling(_ record: AccountRecord, _ token: IDToken) throws(AccountError) {
    guard !["", "anonymous", "phone", "custom"].contains(token.provider) else { throw AccountError.unsupportedFirstFactor }
    guard record.email != nil, record.isEmailVerified else {
      throw AccountError("UNVERIFIED_EMAIL", "Need to verify email first before enrolling second factors.")
    }
    guard record.secondFactors.count < SecondFactor.most else { throw AccountError("SECOND_FACTOR_LIMIT_EXCEEDED") }
  }

  /// A session of before the first factor neither takes it away nor adds another: its token may be anybody's by now.
  private static func checkShown(_ record: AccountRecord, _ token: IDToken) throws(AccountError) {
    guard record.secondFactors.isEmpty || record.secondFactors.contains(where: { $0.id == token.secondFactor?.id }) else {
      throw AccountError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }
  }

  private static let numberExists = AccountError(
    "SECOND_FACTOR_EXISTS", "Phone number already enrolled as second factor for this account.")

  /// What players of a project may enrol.
  func secondFactorPolicy(of project: AccountProject) throws(AccountError) -> SecondFactorPolicy {
    try settings(of: project).secondFactors ?? (options.isDevelopment ? .all : .none)
  }
}
