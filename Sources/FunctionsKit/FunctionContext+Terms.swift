import TreeModel

/// What the terms of a payment come to: paid at once, held, or skipped.
extension FunctionContext {
  /// Looks at the terms of a payment, and counts it.
  ///
  /// - Parameter code: payments of one code are counted together.
  /// - Returns: why it must wait; nil if it is to be made at once.
  /// - Throws: ``RunSkipped`` for a person who was paid before under another account.
  func hold(under terms: RewardTerms, code: String) throws -> FunctionEffects.Hold? {
    if !terms.paysReturning, try reader.wasPaid(terms.player.text, code) { throw RunSkipped(reason: "returning_identity") }
    var reviews: [String] = []
    for limit in try limits(of: terms) where try count(code, limit) > limit.max {
      reviews.append("more than \(limit.max) a day \(limit.words) (\(limit.name))")
    }
    if !reviews.isEmpty { return FunctionEffects.Hold(reason: "review: \(reviews.joined(separator: ", "))", confirmedBy: nil) }
    guard terms.confirmation != nil || self.limits?.untilConfirmed == true else { return nil }
    let place = Self.verifiedPlace(of: terms.player)
    let latest = try reader.latestNode(place)
    if latest.scalar == .bool(true) { return nil }
    // Whatever comes second, the hold or the confirmation, sees the other: this run, or that function.
    try mutate { $0.assumptions.append(FunctionEffects.Assumption(path: place, node: latest, operation: -1)) }
    return FunctionEffects.Hold(
      reason: "unconfirmed: waits until the address of \(terms.player) is confirmed", confirmedBy: terms.player.text)
  }

  /// Pays out what waits until a player's address is confirmed.
  ///
  /// - Returns: whether anything waited.
  func releaseRewards(awaiting player: UserID) throws -> Bool {
    let waiting = try reader.records(RewardRecord.unconfirmed, under: "\(player.text)/")
    try mutate { effects in
      for record in waiting {
        effects.releases.append(
          FunctionEffects.Release(
            player: player.text, key: String(Substring(record.key.utf8.dropFirst(player.text.utf8.count + 1))),
            reward: WaitingReward(stored: record.value)))
        effects.records.append(
          FunctionEffects.RecordChange(
            kind: RewardRecord.unconfirmed, key: record.key, value: nil, expected: record.value))
      }
    }
    return !waiting.isEmpty
  }

  // MARK: -

  private struct Limit {
    let name: String
    let words: String
    let subject: String
    let max: Int64
  }

  private func limits(of terms: RewardTerms) throws -> [Limit] {
    var limits: [Limit] = []
    let declared = self.limits
    if let max = terms.perReferrer ?? declared?.perReferrer, let referrer = terms.referrer {
      limits.append(Limit(name: "perReferrer", words: "for one referrer", subject: referrer.text, max: max))
    }
    if let max = terms.perNetwork ?? declared?.perNetwork,
      let network = try reader.latestNode(Self.networkPlace(of: terms.player)).scalar?.stringValue
    {
      limits.append(Limit(name: "perNetwork", words: "for one client network", subject: network, max: max))
    }
    if let max = terms.perDay ?? declared?.perDay {
      limits.append(Limit(name: "perDay", words: "in all", subject: "", max: max))
    }
    return limits
  }

  /// Counts a payment of the event's day: the number with it.
  private func count(_ code: String, _ limit: Limit) throws -> Int64 {
    let key = "\(code)/\(limit.name)/\(limit.subject)"
    let day = now / 86_400_000
    let stored = try reader.record(RewardRecord.count, key)
    return try mutate { effects in
      let earlier = effects.records.lastIndex { $0.kind == RewardRecord.count && $0.key == key }
      let latest = earlier.map { effects.records[$0].value } ?? stored
      let parts = (latest ?? "").split(separator: "/").compactMap { Int64($0) }
      // A late run of an earlier day is counted in the day that is counted now.
      let counted = parts.count == 2 ? max(day, parts[0]) : day
      let count = parts.count == 2 && parts[0] == counted ? parts[1] + 1 : 1
      let value = "\(counted)/\(count)"
      if let earlier { effects.records.remove(at: earlier) }
      effects.records.append(
        FunctionEffects.RecordChange(kind: RewardRecord.count, key: key, value: value, expected: stored))
      return count
    }
  }

  private static func verifiedPlace(of player: UserID) -> Path {
    accountPlace(of: player).child(Key(unchecked: "emailVerified"))
  }
  private static func networkPlace(of player: UserID) -> Path { accountPlace(of: player).child(Key(unchecked: "network")) }
}
