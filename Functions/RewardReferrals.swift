import FunctionsKit

/// Pays the referrer when the player goes from level 4 to level 5.
func rewardReferrals(_ functions: Functions) {
  struct Settings: FunctionSettings {
    /// Coins for the referrer.
    var amount: Int64 = 50
    /// Whether a jump over level 5 pays too.
    var crossing = false
    var selfReferral = Policy.skip
    var cycle = Policy.skip
    /// What a referrer must have to be paid.
    var requireReferrer = ReferrerRequirement.nothing
    /// Whether a player who falls back and rises again pays again.
    var repeats = Repeats.once
  }

  // Nothing is held unless the configuration says so.
  let options = FunctionOptions(limits: RewardLimits(), heldRewards: [HeldReferrals.declared])
  functions.onUpdate(
    Users.level, name: "rewardReferrals", when: .rising(to: 5), settings: Settings(), options: options
  ) { event, context, settings in
    let player = event.params
    guard (event.before == 4 && event.after == 5) || settings.crossing else { return .skipped("jumped_over_5") }
    let referrer: UserID
    switch try await Referrer.of(player, context: context) {
    case .nobody: return .skipped("not_referred")
    case .invalid: return .skipped("invalid_referrer")
    case .player(let id): referrer = id
    }
    if referrer == player && settings.selfReferral == .skip { return .skipped("self_referral") }
    if referrer != player, settings.cycle == .skip,
      try await Referrer.leadsBack(to: player, from: referrer, context: context)
    {
      return .skipped("cycle")
    }
    let hasRecord = try await context.exists(at: Users.record.path(filling: [referrer.text]))
    switch settings.requireReferrer {
    case .record where !hasRecord: return .skipped("unknown_referrer")
    case .account:
      guard try await context.hasAccount(referrer) else { return .skipped("unknown_referrer") }
    case .hold where !hasRecord:
      try await HeldReferrals.hold(settings.amount, for: referrer, player: player, repeats: settings.repeats, context: context)
      return .done
    case .nothing, .record, .hold: break
    }
    try await context.credit(
      Users.gold, referrer, amount: settings.amount, code: "level5",
      once: settings.repeats == .once ? "level5/\(player)" : nil, subject: "\(player)",
      note: hasRecord ? nil : "ghost_referrer", terms: RewardTerms(about: player, referrer: referrer))
    return .done
  }

  // Only a deployment that holds rewards back pays for looking at each new record.
  let settings = functions.settings(Settings(), of: "rewardReferrals")
  if settings.requireReferrer == .hold { HeldReferrals.payLater(functions, repeats: settings.repeats) }
}
