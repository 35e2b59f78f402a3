import APISupport
import Accounts
import Credentials
import StorageCore
import TextFormats
import TreeModel

/// Second factors: `/v2/accounts/mfaEnrollment:…` and `/v2/accounts/mfaSignIn:…`.
enum SecondFactorCalls {
  // MARK: Enrolling

  /// `mfaEnrollment:start`: a code goes to the telephone, or the player gets the secret for an authenticator.
  static func startEnrollment(_ accounts: AccountService, call: IdentityCall) throws -> JSON {
    let factors = accounts.secondFactors
    try checkAllowed(factors, call: call)
    let enrollee = try enrollee(factors, call: call)
    try factors.checkEnrolling(enrollee)
    if let info = try call.fields.object("phoneEnrollmentInfo") {
      let session = try factors.enroll(phone: try info.phoneNumber(), enrollee: enrollee, of: call.project)
      return ["phoneSessionInfo": ["sessionInfo": .string(session)]]
    }
    guard try call.fields.object("totpEnrollmentInfo") != nil else {
      throw IdentityError("INVALID_ARGUMENT", "((Missing phoneEnrollmentInfo or totpEnrollmentInfo.))")
    }
    let enrollment = try factors.enrollAuthenticator(enrollee, of: call.project)
    return [
      "totpSessionInfo": [
        "sharedSecretKey": .string(enrollment.secret.text),
        "verificationCodeLength": .int(Int64(AuthenticatorSecret.digits)),
        "hashingAlgorithm": .string(AuthenticatorSecret.algorithm), "periodSec": .int(AuthenticatorSecret.period),
        "sessionInfo": .string(enrollment.session),
        "finalizeEnrollmentTime": .string(CalendarTime(milliseconds: enrollment.expiresAt).rfc3339),
      ]
    ]
  }

  /// `mfaEnrollment:finalize`: the code shows that the player has it. The tokens of the answer bear the new factor.
  static func finishEnrollment(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let factors = accounts.secondFactors
    try checkAllowed(factors, call: call)
    let enrollee = try enrollee(factors, call: call)
    let proof: EnrollmentProof
    switch try shown(call.fields) {
    case .phone(let code, let session): proof = .phone(code: code, session: session)
    case .authenticator(let info):
      let session = try sessionInfo(info)
      proof = .authenticator(code: try code(info), session: session)
    }
    let result = try await factors.finishEnrollment(
      proof, displayName: try call.fields.text("displayName"), enrollee: enrollee, of: call.project)
    return JSON(fields: result.members)
  }

  /// `mfaEnrollment:withdraw`.
  static func withdrawEnrollment(_ accounts: AccountService, call: IdentityCall) async throws -> JSON {
    let factors = accounts.secondFactors
    let enrollee = try enrollee(factors, call: call)
    let id = try call.fields.required("mfaEnrollmentId", orThrow: "MISSING_MFA_ENROLLMENT_ID")
    return JSON(fields: try await factors.withdraw(id, enrollee: enrollee, of: call.project).members)
  }

  private static func enrollee(_ factors: SecondFactorService, call: IdentityCall) throws -> SecondFactorService.Enrollee {
    try factors.enrollee(idToken: try call.fields.text("idToken"), of: call.project)
  }

  // MARK: Signing in

  /// `mfaSignIn:start`: a code goes to the telephone. An authenticator needs none.
  static func start(_ accounts: AccountService, _ call: IdentityCall) throws -> JSON {
    let factors = accounts.secondFactors
    let credential = try pendingCredential(factors, call: call)
    try factors.check(pending: credential, of: call.project)
    let id = try call.fields.required("mfaEnrollmentId", orThrow: "MISSING_MFA_ENROLLMENT_ID")
    let session = try factors.sendCode(to: id, pending: credential, of: call.project)
    return ["phoneResponseInfo": ["sessionInfo": .string(session)]]
  }

  /// `mfaSignIn:finalize`: the sign-in is complete.
  static func finish(_ accounts: AccountService, _ call: IdentityCall) async throws -> JSON {
    let credential = try pendingCredential(accounts.secondFactors, call: call)
    // What was shown is read late: an attempt with nothing to show counts as one.
    let result = try await accounts.secondFactors.finish(
      credential,
      shown: {
        switch try shown(call.fields) {
        case .phone(let code, let session): return .phone(code: code, session: session)
        case .authenticator(let info):
          let id = try call.fields.required("mfaEnrollmentId", orThrow: "MISSING_MFA_ENROLLMENT_ID")
          return .authenticator(id: id, code: try code(info))
        }
      }, context: call.context)
    return JSON(fields: result.members)
  }

  /// Refuses to enrol where no factor of any kind may be enrolled.
  private static func checkAllowed(_ factors: SecondFactorService, call: IdentityCall) throws {
    let policy = try factors.policy(of: call.project)
    guard !policy.allowsPhone, policy.adjacentSteps == nil else { return }
    let isAuthenticator = call.fields["totpEnrollmentInfo"] != nil || call.fields["totpVerificationInfo"] != nil
    throw isAuthenticator ? AccountError.authenticatorsDisabled : .phoneFactorsDisabled
  }

  /// The wait for a second factor. A factor that is enrolled is asked for whatever may be enrolled now.
  private static func pendingCredential(_ factors: SecondFactorService, call: IdentityCall) throws -> String {
    if call.fields["mfaPendingCredential"] == nil { try checkAllowed(factors, call: call) }
    return try call.fields.required("mfaPendingCredential", orThrow: "MISSING_MFA_PENDING_CREDENTIAL")
  }

  // MARK: What is shown

  private enum Shown {
    case phone(code: String, session: String)
    case authenticator(IdentityFields)
  }

  private static func shown(_ fields: IdentityFields) throws -> Shown {
    if let info = try fields.object("phoneVerificationInfo") {
      let session = try sessionInfo(info)
      guard let code = try info.text("code") else { throw IdentityError("MISSING_CODE") }
      return .phone(code: code, session: session)
    }
    guard let info = try fields.object("totpVerificationInfo") else {
      throw IdentityError("INVALID_ARGUMENT", "((Missing phoneVerificationInfo or totpVerificationInfo.))")
    }
    return .authenticator(info)
  }

  private static func sessionInfo(_ info: IdentityFields) throws -> String {
    guard let session = try info.text("sessionInfo") else { throw IdentityError("MISSING_SESSION_INFO") }
    return session
  }

  private static func code(_ info: IdentityFields) throws -> String {
    guard let code = try info.text("verificationCode") else { throw IdentityError("MISSING_CODE") }
    return code
  }
}
