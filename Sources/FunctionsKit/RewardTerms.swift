import TreeModel

/// Whom a payment is about, and under which terms it is made at once. Where they are not met the coins wait in a hold; nothing
/// is refused.
///
/// ```swift
/// try await context.credit(
///   Users.gold, referrer, amount: 50, code: "level5", once: "level5/\(player)",
///   terms: RewardTerms(about: player, referrer: referrer))
/// ```
/// The limits are those that the function declares (``FunctionOptions/limits``); a limit that is set here replaces
/// the declared one, for this payment. A day begins at midnight UTC, and payments of one code are counted together. What is beyond a limit waits for a person:
/// `doubloon ledger holds list|release|void`.
public struct RewardTerms: Sendable {
  /// The player whom the reward is about: whose network, address and identity count.
  public var player: UserID
  /// Who brought the player; ``perReferrer`` counts for this one.
  public var referrer: UserID?
  /// Payments for one referrer in a day; those beyond wait for a review. Nil: as the function declares.
  public var perReferrer: Int64?
  /// Payments in a day for players who signed up from one client network; those beyond wait for a review. Nil: as the function
  /// declares.
  public var perNetwork: Int64?
  /// Payments in a day in all; those beyond wait for a review. Nil: as the function declares.
  public var perDay: Int64?
  /// Holds the payment until the player's address is confirmed; nil: as the function declares. See
  /// ``Functions/confirmation()``.
  public var confirmation: Confirmation?
  /// Whether a person who was paid and comes back under the same address or identity is paid again: after leaving, or after
  /// giving it up.
  public var paysReturning: Bool

  /// The function's own terms; a person who was paid before and left is not paid again.
  ///
  /// - `referrer`: who brought the player, for ``perReferrer``.
  public init(about player: UserID, referrer: UserID? = nil) {
    self.player = player
    self.referrer = referrer
    paysReturning = false
  }
}

/// What a function's payments must meet to be made at once, declared where the function is declared. What is beyond a limit
/// waits for a person, `doubloon ledger holds list|release|void`; nothing is refused.
///
/// ```swift
/// functions.onCreate(
///   Users.signIn, name: "welcome", options: FunctionOptions(limits: RewardLimits(perReferrer: 20, untilConfirmed: true))
/// ) { event, context in
///   …
///   try await context.credit(
///     Users.gold, event.params, amount: 50, code: "signup", once: "signup/\(event.params)",
///     terms: RewardTerms(about: event.params, referrer: referrer))
///   return .done
/// }
/// ```
/// Each limit is a setting of the function of the same name, which the configuration overrides without a new build:
/// `{"welcome": {"perReferrer": 5, "untilConfirmed": false}}`. ``init(perReferrer:perNetwork:perDay:untilConfirmed:)`` without
/// arguments limits nothing and makes the settings: then the configuration may.
///
/// A day begins at midnight UTC, and payments of one code are counted together, whichever function makes them. Each `credit`
/// of a function with limits says by ``RewardTerms`` whom it is about; one that does not fails the run.
public struct RewardLimits: FunctionSettings, Hashable {
  /// Payments in a day for one referrer. Nil: any number.
  public var perReferrer: Int64?
  /// Payments in a day for players who signed up from one client network. Nil: any number. A player whose network is not known
  /// (an account of an administrator's or of an import) is not counted.
  public var perNetwork: Int64?
  /// Payments in a day in all. Nil: any number.
  public var perDay: Int64?
  /// Whether payments wait until the address of the player whom they are about is confirmed, which pays them out.
  public var untilConfirmed: Bool

  public init(
    perReferrer: Int64? = nil, perNetwork: Int64? = nil, perDay: Int64? = nil, untilConfirmed: Bool = false
  ) {
    self.perReferrer = perReferrer
    self.perNetwork = perNetwork
    self.perDay = perDay
    self.untilConfirmed = untilConfirmed
  }

  public static let optionalNames: Set<String> = ["perReferrer", "perNetwork", "perDay"]

  /// The settings that a function with limits has beside its own.
  static let names = optionalNames.union(["untilConfirmed"])

  /// The first limit that is below zero; nil if all make sense.
  var negative: (name: String, value: Int64)? {
    for (name, value) in [("perReferrer", perReferrer), ("perNetwork", perNetwork), ("perDay", perDay)] {
      if let value, value < 0 { return (name, value) }
    }
    return nil
  }
}

/// What becomes of a payment whose business key was used before.
public enum IfPaid: Sendable, Hashable {
  /// The whole run changes nothing, and is recorded as skipped, `already_paid`.
  case skipRun
  /// The payment is left out, and the rest of the run is done: for a run that pays many, of whom one may have been paid.
  case leaveOut
}

/// The decision about a payment: paid at once, held, or skipped.
extension FunctionContext {
  /// Looks at the terms of a payment, and counts it.
  ///
  /// - `code`: payments of one code are counted together.
  /// - Returns: why it must wait; nil if it is to be made at once.
  /// - Throws: ``RunSkipped`` for a person who was paid before under another account.
  func hold(under terms: RewardTerms, code: String) throws -> FunctionEffects.Hold? {
    if !terms.paysReturning, try reader.wasPaid(terms.player.text, code) { throw RunSkipped(reason: "returning_identity") }
    var reviews: [String] = []
    for limit in try limits(of: terms) where try count(code, limit: limit) > limit.max {
      reviews.append("more than \(limit.max) a day \(limit.words) (\(limit.name))")
    }
    if !reviews.isEmpty { return FunctionEffects.Hold(reason: "review: \(reviews.joined(separator: ", "))", confirmedBy: nil) }
    guard terms.confirmation != nil || self.limits?.untilConfirmed == true else { return nil }
    let verifiedPath = Self.verifiedPath(of: terms.player)
    let latest = try reader.latestNode(verifiedPath)
    if latest.scalar == .bool(true) { return nil }
    // The later one of hold and confirmation sees the earlier: either this run, or the function that confirms.
    try mutate { $0.assumptions.append(FunctionEffects.Assumption(path: verifiedPath, node: latest, operation: -1)) }
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
      let network = try reader.latestNode(Self.networkPath(of: terms.player)).scalar?.stringValue
    {
      limits.append(Limit(name: "perNetwork", words: "for one client network", subject: network, max: max))
    }
    if let max = terms.perDay ?? declared?.perDay {
      limits.append(Limit(name: "perDay", words: "in all", subject: "", max: max))
    }
    return limits
  }

  /// Counts a payment of the event's day: the number with it.
  private func count(_ code: String, limit: Limit) throws -> Int64 {
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

  private static func verifiedPath(of player: UserID) -> Path {
    accountPath(of: player).child(Key(unchecked: "emailVerified"))
  }
  private static func networkPath(of player: UserID) -> Path { accountPath(of: player).child(Key(unchecked: "network")) }
}

/// A reward that waits until a player's address is confirmed, as a record's value (``RewardRecord/unconfirmed``). For the engine.
public struct WaitingReward: Sendable, Hashable {
  /// The account that gets the coins.
  public let receiver: String
  /// Whether only who was not paid before gets them, and it is remembered who did.
  public let isRemembered: Bool

  public init(receiver: String, isRemembered: Bool) {
    self.receiver = receiver
    self.isRemembered = isRemembered
  }

  /// Reads what ``text`` wrote.
  public init(stored text: String) {
    let json = (try? JSONParser.parse(text)) ?? .null
    // Earlier versions wrote the account alone.
    receiver = json["to"]?.string ?? text
    isRemembered = json["remembered"]?.bool ?? true
  }

  /// The record's value.
  public var text: String {
    var writer = JSONWriter()
    writer.write(JSON(fields: [("to", .string(receiver)), ("remembered", .bool(isRemembered))]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// The kinds of records that payments with terms leave beside the tree. For the engine.
public enum RewardRecord {
  /// `CODE/LIMIT/SUBJECT`: the day and how many payments it had.
  public static let count = "reward-count"
  /// `PLAYER/BUSINESS KEY`: a reward that waits until the player's address is confirmed (``WaitingReward``).
  public static let unconfirmed = "reward-unconfirmed"
}
