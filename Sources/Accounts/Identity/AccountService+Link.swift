import Credentials
import StorageCore
package import TreeModel

/// Signing in by a link in a mail, and by telephone.
extension AccountService {
  /// `accounts:signInWithEmailLink` (spec: auth-protocol §2.3).
  package func signInWithEmailLink(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let email = try EmailAddress.normalized(try call.required("email", "MISSING_EMAIL"))
    let text = try call.required("oobCode", "MISSING_OOB_CODE")
    let code = try storedCode(text, of: call.project)
    guard code.kind == .emailSignIn else { throw AccountError("INVALID_OOB_CODE") }
    guard code.email == email else {
      throw AccountError("INVALID_EMAIL", "The email provided does not match the sign-in email address.")
    }
    let linking = try caller(of: call)
    let uid = newUID()
    let token = newRefreshToken()
    let (session, isNew) = try await change(call.project, by: .user(uid: linking?.uid ?? uid)) {
      (bench) throws(AccountError) -> (AccountSession, Bool) in
      _ = try bench.code(code.hash)
      bench.remove(.code(hash: code.hash))
      let owner = try bench.account(.email(email))
      let caller: AccountRecord? = if let linking { try bench.caller(linking) } else { nil }
      if let caller, let owner, owner.uid != caller.uid { throw AccountError("EMAIL_EXISTS") }
      let before = caller ?? owner
      if before?.isDisabled == true { throw AccountError("USER_DISABLED") }
      let seconds = bench.seconds
      let prove: @Sendable (inout AccountRecord) -> Void = { record in
        // What was set for an address which nobody had proved to own is not the owner's.
        if linking == nil, record.email == email, !record.isEmailVerified { record.dropUnproved(at: seconds) }
        if linking != nil, record.email != email { record.validSince = seconds }
        record.email = email
        record.isEmailVerified = true
        record.signsInByLink = true
      }
      if linking == nil, let before { return (try bench.enter(before, by: "password", token, prove), false) }
      var record = before ?? bench.newAccount(uid, from: call.address)
      prove(&record)
      bench.stamp(&record, by: "password")
      try bench.save(record, from: before)
      guard let linking else { return (try bench.open(record, by: "password", token), true) }
      return (try bench.open(record, by: "password", of: linking, isRenewed: false, token), false)
    }
    sentCodes.remove(code: text)
    return JSON(
      fields: [
        ("kind", "identitytoolkit#EmailLinkSigninResponse"), ("email", .string(email)),
        ("localId", .string(session.record.uid)), ("isNewUser", .bool(isNew)),
      ] + (try tokens(session, of: call.project)))
  }

  // MARK: Telephone

  /// `accounts:sendVerificationCode` (spec: auth-protocol §2.3).
  package func sendVerificationCode(_ call: IdentityCall) throws(AccountError) -> JSON {
    try checkTelephones()
    let number = try PhoneNumber.checked(try call.fields.text("phoneNumber") ?? "")
    guard try account(.phone(number), of: call.project)?.secondFactors.isEmpty != false else { throw Self.noPhoneAlone }
    return ["sessionInfo": .string(try sendCode(to: number, for: .signIn, call))]
  }

  /// No text messages are sent from here: in production the operator would have to.
  private func checkTelephones() throws(AccountError) {
    guard options.isDevelopment else {
      throw AccountError("OPERATION_NOT_ALLOWED", "Sign-in by telephone is not set up on this server.")
    }
  }

  private static let noPhoneAlone = AccountError(
    "UNSUPPORTED_FIRST_FACTOR", "A phone number cannot be set as a first factor on an SMS based MFA user.")

  /// Sends a code to a telephone.
  ///
  /// - Returns: the session that the code is good for.
  func sendCode(to number: String, for purpose: PhoneCodePurpose, _ call: IdentityCall) throws(AccountError) -> String {
    try checkTelephones()
    let number = try PhoneNumber.checked(number)
    let now = clock.now()
    let session = newRefreshToken().text
    let code = newDigits(6)
    sentCodes.add(
      SentCodeStore.PhoneCode(
        project: call.project.name, phoneNumber: number, purpose: purpose, session: session, code: code,
        expiresAt: now + options.phoneCodeLifetime),
      at: now)
    note("To \(number): \(code) is the verification code.")
    return session
  }

  /// `accounts:signInWithPhoneNumber` (spec: auth-protocol §2.3, §4.3).
  package func signInWithPhoneNumber(_ call: IdentityCall) async throws(AccountError) -> JSON {
    let (number, hasProof) = try provenNumber(call)
    let linking = try caller(of: call)
    let uid = newUID()
    let token = newRefreshToken()
    let (session, isNew) = try await change(call.project, by: .user(uid: linking?.uid ?? uid)) {
      (bench) throws(AccountError) -> (AccountSession?, Bool) in
      let owner = try bench.account(.phone(number))
      let caller: AccountRecord? = if let linking { try bench.caller(linking) } else { nil }
      if let caller, let owner, owner.uid != caller.uid {
        // The first time a proof is given out, with which the player may sign in as the other; the second time that is an
        // error.
        guard hasProof else { return (nil, false) }
        throw AccountError("PHONE_NUMBER_EXISTS")
      }
      let before = caller ?? owner
      if before?.isDisabled == true { throw AccountError("USER_DISABLED") }
      // A telephone alone would be the way around the second factor.
      guard before?.secondFactors.isEmpty != false else { throw Self.noPhoneAlone }
      var record = before ?? bench.newAccount(uid, from: call.address)
      record.phoneNumber = number
      bench.stamp(&record, by: "phone")
      try bench.save(record, from: before)
      guard let linking else { return (try bench.open(record, by: "phone", token), before == nil) }
      return (try bench.open(record, by: "phone", of: linking, isRenewed: false, token), false)
    }
    guard let session else { return proof(of: number, call) }
    return JSON(
      fields: [
        ("isNewUser", .bool(isNew)), ("phoneNumber", .string(number)), ("localId", .string(session.record.uid)),
      ] + (try tokens(session, of: call.project)))
  }

  /// The number that the caller has shown to own, by a code or by a proof.
  private func provenNumber(_ call: IdentityCall) throws(AccountError) -> (String, hasProof: Bool) {
    let now = clock.now()
    if let proof = try call.fields.text("temporaryProof"), !proof.isEmpty {
      let number = try PhoneNumber.checked(try call.fields.text("phoneNumber") ?? "")
      try sentCodes.redeem(proof: proof, for: number, of: call.project.name, at: now)
      return (number, true)
    }
    let session = try call.required("sessionInfo", "MISSING_SESSION_INFO")
    let code = try call.required("code", "MISSING_CODE")
    return (try sentCodes.redeem(session: session, code: code, for: .signIn, of: call.project.name, at: now), false)
  }

  private func proof(of number: String, _ call: IdentityCall) -> JSON {
    let now = clock.now()
    let text = newRefreshToken().text
    sentCodes.add(
      SentCodeStore.PhoneProof(
        project: call.project.name, phoneNumber: number, expiresAt: now + options.phoneCodeLifetime), token: text, at: now)
    return [
      "phoneNumber": .string(number), "temporaryProof": .string(text),
      "temporaryProofExpiresIn": .string(String(options.phoneCodeLifetime / 1000)),
    ]
  }
}
