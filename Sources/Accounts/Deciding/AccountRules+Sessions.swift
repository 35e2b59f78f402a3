import StorageCore

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
