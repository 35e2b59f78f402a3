import TreeModel

/// Many holds: what their end would do, and what it did.
package enum AdminHolds {
  package static let previewHolds = Endpoint<NoQuery, HoldsPreviewOrder, HoldsPreview>(
    .post, "/admin/v1/ledger/holds/preview",
    "What a new hold, or the end of holds, would do, judged as if it were done; nothing changes.", isScoped: true)
  package static let endHolds = Endpoint<NoQuery, HoldsEndOrder, HoldsEnded>(
    .post, "/admin/v1/ledger/holds/end",
    "Releases many holds, each to the player for whom it is held, or voids them; once, up to 1000 in a request.",
    access: .support, isScoped: true)

  /// How holds end.
  package enum HoldAction: String, AdminWord, Hashable {
    case release
    case void
  }

  /// Which open holds are meant; everything that is given must hold.
  package struct HoldFilter: AdminValue {
    package var uid: String?
    package var unit: String?
    package var reason: String?
    package var since: Timestamp?
    package var until: Timestamp?
    package var after: Int64?
    /// Only holds up to this one.
    package var through: Int64?

    package init(
      uid: String? = nil, unit: String? = nil, reason: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil,
      after: Int64? = nil, through: Int64? = nil
    ) {
      self.uid = uid
      self.unit = unit
      self.reason = reason
      self.since = since
      self.until = until
      self.after = after
      self.through = through
    }

    package static let notes: [String: FieldNote] = [
      "uid": .only(.form(JSONSchema.keyForm), text: "Only those of this player."),
      "unit": .only(.filled, text: "Only those in this currency."),
      "reason": .only(.filled, text: "Only those whose reason has this text in it, whatever its case."),
      "since": .text("Only those made at this time or later, in milliseconds since 1970."),
      "until": .text("Only those made at this time or earlier, in milliseconds since 1970."),
      "after": .text("Only holds after this one."),
      "through": .text("Only holds up to this one."),
    ]
  }

  /// What is to be looked at: a new hold, or the end of some.
  package struct HoldsPreviewOrder: AdminValue {
    /// A hold that may be made; then nothing else is given.
    package var hold: AdminLedger.HoldOrder?
    /// How holds would end.
    package var action: HoldAction?
    /// These holds.
    package var holds: [Int64]?
    /// Or all that are open and match.
    package var matching: HoldFilter?
    /// The account that would get the coins, each owner's own if not given.
    package var to: String?
    /// Of one hold: all if it is not given.
    package var amount: Int64?

    package init(
      hold: AdminLedger.HoldOrder? = nil, action: HoldAction? = nil, holds: [Int64]? = nil, matching: HoldFilter? = nil,
      to: String? = nil,
      amount: Int64? = nil
    ) {
      self.hold = hold
      self.action = action
      self.holds = holds
      self.matching = matching
      self.to = to
      self.amount = amount
    }

    package static let notes: [String: FieldNote] = [
      "hold": .text("a hold that may be made; then nothing else is given"),
      "action": .text("how holds would end"),
      "holds": .text("these holds, 1 to 1000"),
      "matching": .text("or all that are open and match"),
      "to": .only(.filled, text: "the account that would get the coins, each owner's own if not given"),
      "amount": .only(.integer(1 ... .max), text: "of one hold: all if it is not given"),
    ]
  }

  /// A hold that is refused, and why.
  package struct RefusedHold: AdminValue {
    package var hold: Int64
    package var error: String
    package var code: String

    package init(hold: Int64, error: String, code: String) {
      self.hold = hold
      self.error = error
      self.code = code
    }
  }

  /// What would happen.
  package struct HoldsPreview: AdminValue {
    /// How many are meant.
    package var count: Int64
    /// What would leave them, by unit; without those that would be refused.
    package var coins: NamedValues<Int64>
    /// Those that were judged, oldest first, at most 1000: what an order may name.
    package var holds: [Int64]
    /// The last of them, to go on behind it; nil if these are all.
    package var next: Int64?
    /// The last that is meant: what begins to wait now is behind it.
    package var through: Int64?
    /// How many of them would be refused.
    package var refused: Int64
    /// The first hundred of those.
    package var refusals: [RefusedHold]
    /// What becomes of balances, where it is about one hold.
    package var balances: [AdminLedger.BalanceChange]
    /// The entry that was made under the new hold's key before, for the same: nothing would happen.
    package var repeats: Int64?

    package init(
      count: Int64, coins: NamedValues<Int64>, holds: [Int64], next: Int64? = nil, through: Int64? = nil, refused: Int64,
      refusals: [RefusedHold], balances: [AdminLedger.BalanceChange], repeats: Int64? = nil
    ) {
      self.count = count
      self.coins = coins
      self.holds = holds
      self.next = next
      self.through = through
      self.refused = refused
      self.refusals = refusals
      self.balances = balances
      self.repeats = repeats
    }

    package static let notes: [String: FieldNote] = [
      "count": .text("how many are meant"),
      "coins": .text("what would leave them, by unit; without those that would be refused"),
      "holds": .text("those that were judged, oldest first, at most 1000: what an order may name"),
      "next": .text("the last of them, to go on behind it; missing if these are all"),
      "through": .text("the last that is meant: what begins to wait now is behind it"),
      "refused": .text("how many of them would be refused"),
      "refusals": .text("the first hundred of those"),
      "balances": .text("what becomes of balances, where it is about one hold"),
      "repeats": .text("the entry that was made under the new hold's key before, for the same: nothing would happen"),
    ]
  }

  /// Holds to end.
  package struct HoldsEndOrder: AdminValue {
    package var action: HoldAction
    /// Their numbers, as the preview or the list gave them.
    package var holds: [Int64]
    /// Why, for the record; the same when it is asked for again.
    package var reason: String

    package init(action: HoldAction, holds: [Int64], reason: String) {
      self.action = action
      self.holds = holds
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "holds": .text("their numbers, as the preview or the list gave them, 1 to 1000"),
      "reason": .only(.filled, text: "why, for the record; the same when it is asked for again"),
    ]
  }

  /// A hold that ended, and by which entry.
  package struct EndedHold: AdminValue {
    package var hold: Int64
    package var entry: Int64

    package init(hold: Int64, entry: Int64) {
      self.hold = hold
      self.entry = entry
    }
  }

  /// What became of them.
  package struct HoldsEnded: AdminValue {
    package var ended: [EndedHold]
    /// How many of these had ended so before.
    package var repeated: Int64
    /// What left them, by unit.
    package var coins: NamedValues<Int64>
    /// Those that did not end so.
    package var refusals: [RefusedHold]

    package init(ended: [EndedHold], repeated: Int64, coins: NamedValues<Int64>, refusals: [RefusedHold]) {
      self.ended = ended
      self.repeated = repeated
      self.coins = coins
      self.refusals = refusals
    }

    package static let notes: [String: FieldNote] = [
      "repeated": .text("how many of these had ended so before"),
      "coins": .text("what left them, by unit"),
      "refusals": .text("those that did not end so"),
    ]
  }
}
