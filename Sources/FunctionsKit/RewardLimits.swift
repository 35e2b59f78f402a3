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
