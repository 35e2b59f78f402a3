import FunctionsKit

/// The sign-up reward's settings.
private struct SignupReward: FunctionSettings {
  /// Coins for the player.
  var amount: Int64 = 50
  var selfReferral = Policy.skip
  /// Whether a record that is deleted and created again is paid again.
  var repeats = Repeats.once
  /// How long after the first sign-in a referrer may still be entered, in milliseconds; nil: not at all.
  var lateReferralWithin: Int64?

  static let optionalNames: Set<String> = ["lateReferralWithin"]
}

/// Pays a referred player for signing up: when `last_signin_at` appears for the first time.
func grantSignupReward(_ functions: Functions) {
  // Nothing is held unless the configuration says so.
  let limits = FunctionOptions(limits: RewardLimits())
  functions.onCreate(Users.signIn, name: "grantSignupReward", settings: SignupReward(), options: limits) {
    event, context, settings in
    try await pay(event.params, settings: settings, context: context)
  }

  // Only a deployment that allows late referrals pays for looking at each of them.
  let settings = functions.settings(SignupReward(), of: "grantSignupReward")
  guard let window = settings.lateReferralWithin else { return }
  let same = FunctionOptions(limits: functions.limits(RewardLimits(), of: "grantSignupReward"))
  functions.onCreate(Users.referredBy, name: "grantLateSignupReward", options: same) { event, context in
    guard let signedInAt = try await context.get(Users.signIn, event.params) else { return .skipped("not_signed_in") }
    // Players write it at every sign-in: what counts is whether it was there before.
    let begin = context.now - window
    let wasThere = try await context.exists(at: Users.signIn.path(event.params), asOf: begin)
    guard signedInAt >= begin, !wasThere else { return .skipped("too_late") }
    return try await pay(event.params, settings: settings, context: context)
  }
}

private func pay(_ player: UserID, settings: SignupReward, context: FunctionContext) async throws -> Outcome {
  switch try await Referrer.of(player, context: context) {
  case .nobody: return .skipped("not_referred")
  case .invalid: return .skipped("invalid_referrer")
  case .player(let referrer):
    if referrer == player && settings.selfReferral == .skip { return .skipped("self_referral") }
    try await context.credit(
      Users.gold, player, amount: settings.amount, code: "signup",
      once: settings.repeats == .once ? "signup/\(player)" : nil, note: "referred by \(referrer)",
      terms: RewardTerms(about: player, referrer: referrer))
    return .done
  }
}
