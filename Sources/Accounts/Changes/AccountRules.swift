import Credentials
import StorageCore

/// What holds of an account and a token, on a snapshot and on the writer alike.
enum AccountRules {
  /// The account that an ID token stands for, if the token is still good for it.
  static func caller(_ token: IDToken, account record: AccountRecord?) throws -> AccountRecord {
    guard let record, token.issuedAt >= record.bornAt / 1000 else { throw AccountError.unknownAccount }
    guard !record.isDisabled else { throw AccountError.disabledAccount }
    guard token.issuedAt >= record.validSince ?? 0 else { throw AccountError.expiredToken }
    return record
  }

  /// Refuses what would hand an account over to the finder of a device that was signed in long ago.
  ///
  /// - Throws: `AccountError/signInTooOld`
  static func checkRecent(_ token: IDToken, account record: AccountRecord, options: AccountOptions, at now: Int64) throws {
    guard !options.isDevelopment, !record.isAnonymous, let longest = options.recentSignIn else { return }
    guard now - longest <= token.authTime.multipliedReportingOverflow(by: 1000).partialValue else {
      throw AccountError.signInTooOld
    }
  }
}

extension AccountRules {
  /// Whether a session is of before its anonymous account was linked: it would go on to say "anonymous" of an account that
  /// is not.
  static func isOutgrown(_ session: RefreshTokenRecord, account record: AccountRecord) -> Bool {
    session.provider == "anonymous" && !record.isAnonymous && session.issuedAt <= record.linkedAt ?? 0
  }

  /// When a session ended, in milliseconds since 1970; nil if it goes on.
  ///
  /// One that was outgrown ends after a grace, in which the answer of the link may have been lost.
  static func end(
    of session: RefreshTokenRecord, account record: AccountRecord, options: AccountOptions, at now: Int64
  ) -> Int64? {
    if let endedAt = session.endedAt { return endedAt }
    guard session.issuedAt >= record.bornAt else { return record.bornAt }
    let linkedAt = record.linkedAt ?? 0
    let isOutgrown = isOutgrown(session, account: record)
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
