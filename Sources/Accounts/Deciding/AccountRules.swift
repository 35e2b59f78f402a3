import Credentials
import StorageCore

/// What is true of an account and a token, whoever looks: the writer, or a read.
enum AccountRules {
  /// The account that an ID token stands for, if the token is still good for it (spec: auth-protocol §3.4).
  static func caller(_ token: IDToken, _ record: AccountRecord?) throws(AccountError) -> AccountRecord {
    guard let record, token.issuedAt >= record.bornAt / 1000 else { throw AccountError("USER_NOT_FOUND") }
    guard !record.isDisabled else { throw AccountError("USER_DISABLED") }
    guard token.issuedAt >= record.validSince ?? 0 else { throw AccountError("TOKEN_EXPIRED") }
    return record
  }

  /// Refuses what hands an account over to whoever finds a device that was signed in long ago (spec: auth-protocol §4.3).
  static func checkRecent(_ token: IDToken, _ record: AccountRecord, _ options: AccountOptions, at now: Int64)
    throws(AccountError)
  {
    guard !options.isDevelopment, !record.isAnonymous, let longest = options.recentSignIn else { return }
    guard now - longest <= token.authTime.multipliedReportingOverflow(by: 1000).partialValue else {
      throw AccountError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }
  }

  /// The claims that an administrator gives: kept as they were written; an empty text takes them away.
  static func claims(_ text: String) throws(AccountError) -> String? {
    do throws(ClaimsError) {
      _ = try ReservedClaims.claims(of: text)
      return text.isEmpty ? nil : text
    } catch {
      throw AccountError(wire: error.wireMessage)
    }
  }

  /// Names of providers stand in paths and in tokens.
  static func providerID(_ text: String) throws(AccountError) -> String {
    let isLegal =
      (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || [0x2E, 0x2D, 0x5F].contains(byte)
      }
    guard isLegal else {
      throw AccountError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid provider ID: \(text.prefix(128)).")
    }
    return text
  }
}

extension AccountRules {
  /// Whether a session is of before its anonymous account was linked: it would go on to say "anonymous" of an account that
  /// is not.
  static func isOutgrown(_ session: RefreshTokenRecord, _ record: AccountRecord) -> Bool {
    session.provider == "anonymous" && !record.isAnonymous && session.issuedAt <= record.linkedAt ?? 0
  }

  /// When a session ended, in milliseconds since 1970; nil if it goes on.
  ///
  /// One that was outgrown ends after a grace, in which the answer of the link may have been lost.
  static func end(
    of session: RefreshTokenRecord, _ record: AccountRecord, _ options: AccountOptions, at now: Int64
  ) -> Int64? {
    guard session.issuedAt >= record.bornAt else { return record.bornAt }
    let linkedAt = record.linkedAt ?? 0
    let isOutgrown = isOutgrown(session, record)
    if isOutgrown, now >= linkedAt + options.linkGrace { return linkedAt + options.linkGrace }
    if let validSince = record.validSince, session.issuedAt / 1000 < validSince,
      !(isOutgrown && validSince == linkedAt / 1000)
    {
      return validSince > now / 1000 ? now : validSince * 1000
    }
    if let idleMax = options.sessionIdleMax, now - session.issuedAt > idleMax { return session.issuedAt + idleMax }
    return nil
  }
}
