import TreeModel

extension AdminLedger {
  /// Coins to move.
  package struct TransferOrder: AdminValue {
    /// The account that gives.
    package var debit: String
    /// The account that gets.
    package var credit: String
    package var amount: Int64
    package var unit: String?
    /// Why, in one word.
    package var code: String?
    /// Unique for ever: a second transfer under it is not made.
    package var key: String
    /// Whom it is about, if neither account says it.
    package var subject: String?
    /// Why, for the record.
    package var reason: String?
    /// Whether a player's balance may go below zero.
    package var allowNegative: Bool?

    package init(
      debit: String, credit: String, amount: Int64, unit: String? = nil, code: String? = nil, key: String,
      subject: String? = nil, reason: String? = nil, allowNegative: Bool? = nil
    ) {
      self.debit = debit
      self.credit = credit
      self.amount = amount
      self.unit = unit
      self.code = code
      self.key = key
      self.subject = subject
      self.reason = reason
      self.allowNegative = allowNegative
    }

    package static let notes: [String: FieldNote] = [
      "debit": .only(.filled, text: "the account that gives"),
      "credit": .only(.filled, text: "the account that gets"),
      "amount": .only(.integer(1 ... .max)),
      "unit": .only(.filled),
      "code": .only(.filled, text: "why, in one word"),
      "key": .only(.filled, text: "unique for ever: a second transfer under it is not made"),
      "subject": .text("whom it is about, if neither account says it"),
      "reason": .text("why, for the record"),
      "allowNegative": .text("whether a player's balance may go below zero"),
    ]
  }

  /// The entry that was made, or was there before.
  package struct Posted: AdminValue {
    package var entry: Entry
    /// Whether the key was used before, for the same.
    package var repeated: Bool

    package init(entry: Entry, repeated: Bool) {
      self.entry = entry
      self.repeated = repeated
    }

    package static let notes: [String: FieldNote] = [
      "repeated": .text("whether the key was used before, for the same")
    ]
  }

  /// What to do if the coins were spent.
  package enum ReversalPolicy: String, AdminWord, Hashable {
    case allowNegative
    case refuse
  }

  /// An entry to take back.
  package struct ReverseOrder: AdminValue {
    /// The entry.
    package var sequence: Int64
    /// Why, for the record.
    package var reason: String
    /// What if the coins were spent.
    package var policy: ReversalPolicy?

    package init(sequence: Int64, reason: String, policy: ReversalPolicy? = nil) {
      self.sequence = sequence
      self.reason = reason
      self.policy = policy
    }

    package static let notes: [String: FieldNote] = [
      "sequence": .text("the entry"),
      "reason": .only(.filled, text: "why, for the record"),
      "policy": .text("what if the coins were spent"),
    ]
  }

  /// Coins to set aside.
  package struct HoldOrder: AdminValue {
    /// The account that gives.
    package var from: String
    /// In whose name they wait.
    package var owner: String
    package var amount: Int64
    package var unit: String?
    /// Unique for ever.
    package var key: String
    /// When they go back by themselves.
    package var expiresAt: Timestamp?
    /// Whom it is about, if neither account says it.
    package var subject: String?
    /// Why, for the record.
    package var reason: String?

    package init(
      from: String, owner: String, amount: Int64, unit: String? = nil, key: String, expiresAt: Timestamp? = nil,
      subject: String? = nil, reason: String? = nil
    ) {
      self.from = from
      self.owner = owner
      self.amount = amount
      self.unit = unit
      self.key = key
      self.expiresAt = expiresAt
      self.subject = subject
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "from": .only(.filled, text: "the account that gives"),
      "owner": .only(.filled, text: "in whose name they wait"),
      "amount": .only(.integer(1 ... .max)),
      "unit": .only(.filled),
      "key": .only(.filled, text: "unique for ever"),
      "expiresAt": .text("when they go back by themselves"),
      "subject": .text("whom it is about, if neither account says it"),
      "reason": .text("why, for the record"),
    ]
  }

  /// Which holds are wanted.
  package struct HoldQuery: AdminValue {
    package var uid: String?
    package var unit: String?
    package var reason: String?
    package var since: Timestamp?
    package var until: Timestamp?
    package var after: Int64?
    package var limit: Int64?

    package init(
      uid: String? = nil, unit: String? = nil, reason: String? = nil, since: Timestamp? = nil, until: Timestamp? = nil,
      after: Int64? = nil, limit: Int64? = nil
    ) {
      self.uid = uid
      self.unit = unit
      self.reason = reason
      self.since = since
      self.until = until
      self.after = after
      self.limit = limit
    }

    package static let notes = AdminHolds.HoldFilter.notes.filter { $0.key != "through" }.merging(["limit": .limit(50)]) { $1 }
  }

  /// What is held and waits, oldest first.
  package struct HoldList: AdminValue {
    package var holds: [Entry]
    /// All that wait and match.
    package var count: Int64
    /// The next page's after.
    package var next: Int64?

    package init(holds: [Entry], count: Int64, next: Int64? = nil) {
      self.holds = holds
      self.count = count
      self.next = next
    }

    package static let notes: [String: FieldNote] = [
      "count": .text("all that wait and match"),
      "next": .text("the next page's after"),
    ]
  }

  /// To whom a hold is paid.
  package struct ReleaseOrder: AdminValue {
    /// The account that gets, the owner's own if not given; the role support may name no other.
    package var to: String?
    /// All if it is not given.
    package var amount: Int64?
    /// Why, for the record.
    package var reason: String?

    package init(to: String? = nil, amount: Int64? = nil, reason: String? = nil) {
      self.to = to
      self.amount = amount
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "to": .only(.filled, text: "the account that gets, the owner's own if not given; the role support may name no other"),
      "amount": .only(.integer(1 ... .max), text: "all if it is not given"),
      "reason": .text("why, for the record"),
    ]
  }

  /// Why a hold is given back.
  package struct VoidOrder: AdminValue {
    /// Why, for the record.
    package var reason: String?

    package init(reason: String? = nil) {
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "reason": .text("why, for the record")
    ]
  }

  /// The entry that ended a hold.
  package struct Ended: AdminValue {
    package var entry: Entry
    package var rest: Entry?
    package var repeated: Bool

    package init(entry: Entry, rest: Entry? = nil, repeated: Bool) {
      self.entry = entry
      self.rest = rest
      self.repeated = repeated
    }
  }
}
