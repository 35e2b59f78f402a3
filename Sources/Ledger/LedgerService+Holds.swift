package import RewardModel
package import StorageCore

/// What is to be set aside, until it is released, voided or expires.
package struct HoldOrder: Sendable, Hashable {
  /// Where the coins come from, and go back to: a player for a purchase, an issuance for a reward that must wait.
  package let from: LedgerAccount
  /// In whose name they are held; they wait in `hold:OWNER`.
  package let owner: String
  /// Above zero, in minor units.
  package let amount: Int64
  /// The currency.
  package let unit: String
  /// Unique in the namespace, for ever.
  package let key: BusinessKey
  /// When the hold lapses, in milliseconds since 1970; nil if it never does. Part of what a repetition must repeat.
  package let expiresAt: Int64?
  /// Whom it is about, where that is not the owner.
  package let subject: String?
  /// A person's words.
  package let reason: String?

  /// An order.
  package init(
    from: LedgerAccount, owner: String, amount: Int64, unit: String, key: BusinessKey, expiresAt: Int64? = nil,
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

  /// The transfer that makes the hold.
  var transfer: LedgerTransfer {
    LedgerTransfer(
      debit: from, credit: .hold(owner), amount: amount, unit: unit, code: LedgerAccount.holdKind, key: key, subject: subject,
      reason: reason, expiresAt: expiresAt)
  }
}

/// How a hold ended.
package struct HoldEnding: Sendable, Hashable {
  /// The entry that ended it: to the receiver of a release, or back to where the coins came from.
  package let entry: LedgerEntry
  /// The entry that gave back what a release left over; nil if nothing was.
  package let rest: LedgerEntry?
  /// Whether the hold had ended the same way before; this request changed nothing.
  package let isRepeated: Bool

  /// An ending.
  package init(entry: LedgerEntry, rest: LedgerEntry?, isRepeated: Bool) {
    self.entry = entry
    self.rest = rest
    self.isRepeated = isRepeated
  }
}

/// What is to become of a hold.
package enum HoldDecision: Sendable, Hashable {
  /// Paid out.
  ///
  /// - `to`: who gets the coins; nil for the player in whose name they are held.
  /// - `amount`: at most what is held, the rest goes back; nil for all of it.
  case release(to: LedgerAccount?, amount: Int64?)
  /// Given back to where it came from.
  case void
}

/// What a sweep over expired holds did.
package struct HoldSweep: Sendable {
  /// A hold that expired but could not be freed.
  package struct StuckHold: Sendable {
    /// The entry that made the hold.
    package let hold: LedgerEntry
    /// Why it stays for the next sweep.
    package let error: LedgerError

    /// A hold that stays.
    package init(hold: LedgerEntry, error: LedgerError) {
      self.hold = hold
      self.error = error
    }
  }

  /// The entries that gave the coins back.
  package var freed: [LedgerEntry] = []
  /// What could not be freed.
  package var failures: [StuckHold] = []

  /// A sweep that did nothing yet.
  package init() {}
}

extension LedgerService {
  /// Sets coins aside. The entry's sequence names the hold.
  ///
  /// - Throws: ``LedgerError`` as ``transfer(_:in:by:)``.
  package func hold(_ order: HoldOrder, in namespace: NamespaceID, by actor: Actor) async throws -> PostedTransfer {
    try await transfer(order.transfer, in: namespace, by: actor)
  }

  /// Pays a hold out, whole or in part; the rest goes back to where it came from.
  ///
  /// - `sequence`: the entry that made the hold.
  /// - `receiver`: who gets the coins.
  /// - `amount`: at most what is held; nil for all of it.
  /// - Throws: ``LedgerError`` with `notFound`, `holdEnded` (naming the entry) if it ended another way before, `invalid` for
  ///   a wrong amount or an expired hold, or as ``transfer(_:in:by:)``.
  package func release(
    _ sequence: Int64, to receiver: LedgerAccount, amount: Int64? = nil, in namespace: NamespaceID, by actor: Actor,
    reason: String? = nil
  ) async throws -> HoldEnding {
    try await end(sequence, by: .release(to: receiver, amount: amount), in: namespace, by: actor, reason: reason)
  }

  /// Gives the whole hold back to where it came from.
  ///
  /// - Throws: ``LedgerError`` as ``release(_:to:amount:in:by:reason:)``.
  package func void(_ sequence: Int64, in namespace: NamespaceID, by actor: Actor, reason: String? = nil)
    async throws -> HoldEnding
  {
    try await end(sequence, by: .void, in: namespace, by: actor, reason: reason)
  }

  /// Ends a hold.
  ///
  /// - Throws: ``LedgerError`` as ``release(_:to:amount:in:by:reason:)``.
  package func end(
    _ sequence: Int64, by decision: HoldDecision, in namespace: NamespaceID, by actor: Actor, reason: String?
  ) async throws -> HoldEnding {
    let (hold, transfers) = try ending(sequence, by: decision, in: namespace, reason: reason)
    return try await end(hold, transfers: transfers, in: namespace, by: actor)
  }

  /// What ends a hold: the transfer under its main key first.
  func ending(_ sequence: Int64, by decision: HoldDecision, in namespace: NamespaceID, reason: String?) throws
    -> (hold: LedgerEntry, transfers: [LedgerTransfer])
  {
    let hold = try hold(sequence, in: namespace)
    let held = hold.transfer.amount
    guard case .release(let named, let part) = decision else {
      return (
        hold,
        [
          hold.ending(
            to: hold.transfer.debit, amount: held, code: HoldEnds.voidCode, key: .holdEnd(of: sequence), reason: reason)
        ]
      )
    }
    let amount = part ?? held
    guard amount > 0, amount <= held else {
      throw LedgerError(
        .invalid,
        "Hold \(sequence) has \(held) \(hold.transfer.unit); \(amount) cannot be released. Release 1 to \(held), or void it.")
    }
    let receiver = try named ?? ownAccount(of: hold)
    var transfers = [
      hold.ending(to: receiver, amount: amount, code: HoldEnds.releaseCode, key: .holdEnd(of: sequence), reason: reason)
    ]
    if amount < held {
      transfers.append(
        hold.ending(to: hold.transfer.debit, amount: held - amount, code: "rest", key: .holdRest(of: sequence), reason: reason))
    }
    return (hold, transfers)
  }

  /// The account of the player in whose name coins are held.
  ///
  /// - Throws: ``LedgerError`` with `invalid` where players have several accounts in that unit, or none.
  private func ownAccount(of hold: LedgerEntry) throws -> LedgerAccount {
    let unit = hold.transfer.unit
    let holders = Set(declaredCurrencies.filter { $0.unit == unit }.map(\.holder))
    guard holders.count == 1, let holder = holders.first else {
      throw LedgerError(
        .invalid,
        "\(unit) is held by \(holders.isEmpty ? "no" : "several") kinds of account: say which gets the coins (\"to\", or --to)."
      )
    }
    return LedgerAccount("\(holder):\(hold.transfer.credit.owner)")
  }

  /// Gives back what is held beyond its time. To be called every now and then; twice does no harm.
  ///
  /// A hold that cannot be freed (the balance it came from is no integer any more) is listed and stays for the next sweep.
  /// - `now`: milliseconds since 1970.
  package func expireHolds(in namespace: NamespaceID, now: Int64) async throws -> HoldSweep {
    var sweep = HoldSweep()
    for hold in try expiredHolds(in: namespace, now: now) {
      let back = hold.ending(
        to: hold.transfer.debit, amount: hold.transfer.amount, code: HoldEnds.expiryCode, key: .holdEnd(of: hold.sequence),
        reason: nil)
      do {
        sweep.freed.append(try await end(hold, transfers: [back], in: namespace, by: .system("hold-expiry")).entry)
      } catch let error as LedgerError {
        // Somebody released or voided it in the meantime: nothing to do.
        if error.code == .holdEnded { continue }
        sweep.failures.append(HoldSweep.StuckHold(hold: hold, error: error))
      }
    }
    return sweep
  }

  private func hold(_ sequence: Int64, in namespace: NamespaceID) throws -> LedgerEntry {
    guard let entry = try entry(in: namespace, sequence: sequence), entry.transfer.credit.isHold else {
      throw LedgerError(.notFound, "Entry \(sequence) made no hold. A hold is named by the sequence of the entry that made it.")
    }
    return entry
  }

  private func end(_ hold: LedgerEntry, transfers: [LedgerTransfer], in namespace: NamespaceID, by actor: Actor)
    async throws -> HoldEnding
  {
    do throws(CommitError) {
      let entries = try await commit(transfers, in: namespace, by: actor)
      return HoldEnding(entry: entries[0], rest: entries.dropFirst().first, isRepeated: false)
    } catch {
      guard case .keyTaken(let entry) = error.code else { throw LedgerError(error) }
      let rest = try self.entry(in: namespace, key: .holdRest(of: hold.sequence))
      if transfers[0].hasSameBody(as: entry.transfer) { return HoldEnding(entry: entry, rest: rest, isRepeated: true) }
      throw LedgerError(
        .holdEnded, "Hold \(hold.sequence) ended with entry \(entry.sequence) (\(entry.transfer.code)). A hold ends once.",
        entry: entry)
    }
  }

  /// The open holds whose time is over.
  private func expiredHolds(in namespace: NamespaceID, now: Int64) throws -> [LedgerEntry] {
    try read { snapshot in
      try OpenHolds(in: namespace, snapshot).all().filter { hold in hold.transfer.expiresAt.map { $0 <= now } ?? false }
    }
  }
}

extension LedgerEntry {
  /// A transfer out of the hold that this entry made.
  fileprivate func ending(to receiver: LedgerAccount, amount: Int64, code: String, key: BusinessKey, reason: String?)
    -> LedgerTransfer
  {
    // Giving back to a player whose balance was driven below zero meanwhile is fine; the hold itself never goes there.
    LedgerTransfer(
      debit: transfer.credit, credit: receiver, amount: amount, unit: transfer.unit, code: code, key: key,
      subject: transfer.subject, reason: reason)
  }
}
