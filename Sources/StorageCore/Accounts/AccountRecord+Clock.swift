extension AccountRecord {
  /// The record without times that lie ahead: a clock stamped them that ran ahead and was set back, and until they came no
  /// token would be good. Nil if there are none.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - skew: how much ahead is no concern, in milliseconds.
  public func broughtBack(to now: Int64, skew: Int64) -> AccountRecord? {
    let latest = now + skew
    guard bornAt > latest || (validSince ?? 0) > latest / 1000 else { return nil }
    var record = self
    record.bornAt = min(bornAt, now)
    record.createdAt = min(createdAt, now)
    record.lastLoginAt = lastLoginAt.map { min($0, now) }
    record.lastRefreshAt = lastRefreshAt.map { min($0, now) }
    record.validSince = validSince.map { min($0, now / 1000) }
    return record
  }
}
