import APISupport
import AdminModel
import HTTPServer
import Ledger
import NIOHTTP1
import NIOPosix
import RewardModel
import StorageCore
import TreeModel

/// Holds: one, or many at once.
extension LedgerRoutes {
  /// Refused holds that a preview shows.
  private static let refusalsMax = 100

  static func holds(_ call: RouteCall, query: AdminLedger.HoldQuery) throws -> AdminLedger.HoldList {
    let (namespace, limit) = (try call.namespace(), Int(query.limit ?? 50))
    let filter = AdminHolds.HoldFilter(
      uid: query.uid, unit: query.unit, reason: query.reason, since: query.since, until: query.until)
    let open = try ledger(call).openHolds(HoldFilter(filter), in: namespace)
    let page = open.filter { $0.sequence > query.after ?? 0 }.prefix(limit)
    return AdminLedger.HoldList(
      holds: page.map { AdminLedger.Entry($0) }, count: Int64(open.count),
      next: page.count == limit ? page.last?.sequence : nil)
  }

  // MARK: One

  static func hold(_ call: RouteCall, order: AdminLedger.HoldOrder) async throws -> AdminLedger.Posted {
    let (ledger, namespace) = (try ledger(call), try call.namespace())
    return AdminLedger.Posted(
      try await ledger.hold(try hold(order, of: ledger), in: namespace, by: call.caller.actor))
  }

  private static func hold(_ order: AdminLedger.HoldOrder, of ledger: LedgerService) throws -> HoldOrder {
    let unit = try unit(order.unit, of: ledger)
    return HoldOrder(
      from: LedgerAccount(order.from), owner: owner(order.owner, unit: unit, of: ledger), amount: order.amount, unit: unit,
      key: BusinessKey(order.key), expiresAt: order.expiresAt?.milliseconds, subject: order.subject, reason: order.reason)
  }

  static func release(_ call: RouteCall, order: AdminLedger.ReleaseOrder) async throws -> AdminLedger.Ended {
    let (ledger, sequence, namespace) = (try ledger(call), try sequence(call), try call.namespace())
    let receiver = order.to.map { LedgerAccount($0) }
    if let receiver, !call.caller.isAdmin { try checkReceiver(receiver, ofHold: sequence, in: namespace, of: ledger) }
    return AdminLedger.Ended(
      try await ledger.end(
        sequence, by: .release(to: receiver, amount: order.amount), in: namespace, by: call.caller.actor, reason: order.reason))
  }

  static func voidHold(_ call: RouteCall, order: AdminLedger.VoidOrder) async throws -> AdminLedger.Ended {
    let (ledger, sequence, namespace) = (try ledger(call), try sequence(call), try call.namespace())
    return AdminLedger.Ended(
      try await ledger.void(sequence, in: namespace, by: call.caller.actor, reason: order.reason))
  }

  /// In whose name coins are held: the player, also where the player's account is named.
  private static func owner(_ text: String, unit: String, of ledger: LedgerService) -> String {
    for currency in ledger.declaredCurrencies where currency.unit == unit && text.hasPrefix("\(currency.holder):") {
      return String(text.dropFirst(currency.holder.count + 1))
    }
    return text
  }

  /// A hold's coins may have come from anywhere: sent to any account they would be a transfer, which takes an administrator.
  private static func checkReceiver(
    _ receiver: LedgerAccount, ofHold sequence: Int64, in namespace: NamespaceID, of ledger: LedgerService
  ) throws {
    let entry = try ledger.entry(in: namespace, sequence: sequence)
    guard let hold = entry?.transfer, hold.credit.isHold else { return }
    let isOwner = ledger.declaredCurrencies.contains { currency in
      currency.unit == hold.unit
        && [LedgerAccount("\(currency.holder):\(hold.credit.owner)"), LedgerAccount(String(hold.credit.owner))].contains(
          receiver)
    }
    guard !isOwner else { return }
    throw APIError(
      .forbidden, "role_needed",
      "Hold \(sequence) is held for \(hold.credit.owner): to pay it to \(receiver) takes the role admin. Release it to the "
        + "player's own account, void it, or ask an administrator.")
  }

  private static func sequence(_ call: RouteCall) throws -> Int64 {
    guard let sequence = call.captures["sequence"].flatMap({ Int64($0) }) else {
      throw APIError.badRequest("A hold is named by the sequence of the entry that made it, a number.")
    }
    return sequence
  }

  // MARK: Many

  static func endHolds(_ call: RouteCall, order: AdminHolds.HoldsEndOrder) async throws -> AdminHolds.HoldsEnded {
    let (ledger, namespace) = (try ledger(call), try call.namespace())
    let outcomes = await ledger.end(
      try named(order.holds), by: order.action.decision(), in: namespace, by: call.caller.actor, reason: order.reason)
    let endings = outcomes.compactMap { outcome in try? outcome.result.get() }
    return AdminHolds.HoldsEnded(
      ended: outcomes.compactMap { outcome in
        guard case .success(let ending) = outcome.result else { return nil }
        return AdminHolds.EndedHold(hold: outcome.hold, entry: ending.entry.sequence)
      }, repeated: Int64(endings.count(where: \.isRepeated)),
      coins: try sums(of: endings.map { ($0.entry.transfer.unit, $0.entry.transfer.amount) }),
      refusals: outcomes.compactMap { AdminHolds.RefusedHold($0) })
  }

  static func previewHolds(_ call: RouteCall, order: AdminHolds.HoldsPreviewOrder) async throws -> AdminHolds.HoldsPreview {
    let (ledger, namespace) = (try ledger(call), try call.namespace())
    switch (order.hold, order.action, order.holds, order.matching) {
    case (let made?, nil, nil, nil):
      return try await preview(try hold(made, of: ledger), in: namespace, of: ledger, by: call.caller.actor)
    case (nil, let action?, let holds?, nil):
      let sequences = try named(holds)
      guard order.amount == nil || sequences.count == 1 else { throw APIError.badRequest("amount is about one hold.") }
      let decision = action.decision(to: order.to.map { LedgerAccount($0) }, amount: order.amount)
      let outcomes = try await ledger.previewEnding(sequences, by: decision, in: namespace, by: call.caller.actor)
      let entries = try sequences.sorted().compactMap { try ledger.entry(in: namespace, sequence: $0) }
      return try preview(of: outcomes, meaning: entries, count: sequences.count)
    case (nil, let action?, nil, let matching?) where order.amount == nil && order.to == nil:
      let open = try await call.services.adminPool.runIfActive {
        try ledger.openHolds(HoldFilter(matching), in: namespace)
      }
      let judged = Set(open.prefix(LedgerService.holdsAtOnceMax).map(\.sequence))
      let outcomes = try await ledger.previewEnding(judged, by: action.decision(), in: namespace, by: call.caller.actor)
      return try preview(of: outcomes, meaning: open, count: open.count)
    default:
      throw APIError.badRequest(
        "Send hold, for a new hold; or action with holds, a list, perhaps with to and amount; or action with matching.")
    }
  }

  private static func preview(
    _ hold: HoldOrder, in namespace: NamespaceID, of ledger: LedgerService, by actor: Actor
  ) async throws -> AdminHolds.HoldsPreview {
    let preview = try await ledger.preview(hold, in: namespace, by: actor)
    return AdminHolds.HoldsPreview(
      count: 1, coins: NamedValues(), holds: [], refused: preview.refusal == nil ? 0 : 1,
      refusals: preview.refusal.map { [AdminHolds.RefusedHold(hold: 0, error: $0.message, code: $0.code.description)] } ?? [],
      balances: preview.changes.map { AdminLedger.BalanceChange($0) }, repeats: preview.earlier?.sequence)
  }

  private static func preview(of outcomes: [HoldOutcome], meaning entries: [LedgerEntry], count: Int) throws
    -> AdminHolds.HoldsPreview
  {
    let refusals = outcomes.compactMap { AdminHolds.RefusedHold($0) }
    let refused = Set(refusals.map(\.hold))
    let balances = outcomes.count == 1 ? (try? outcomes[0].result.get())?.changes ?? [] : []
    return AdminHolds.HoldsPreview(
      count: Int64(count),
      coins: try sums(
        of: entries.filter { !refused.contains($0.sequence) }.map { ($0.transfer.unit, $0.transfer.amount) }),
      holds: outcomes.map(\.hold), next: outcomes.count < count ? outcomes.last?.hold : nil, through: entries.last?.sequence,
      refused: Int64(refusals.count),
      refusals: Array(refusals.prefix(refusalsMax)), balances: balances)
  }

  private static func named(_ holds: [Int64]) throws -> Set<Int64> {
    guard (1...LedgerService.holdsAtOnceMax).contains(holds.count) else {
      throw APIError.badRequest("holds must name 1 to \(LedgerService.holdsAtOnceMax) holds; it names \(holds.count).")
    }
    return Set(holds)
  }

  /// Amounts added up by unit.
  static func sums(of amounts: [(unit: String, amount: Int64)]) throws -> NamedValues<Int64> {
    var sums: [String: Int64] = [:]
    for (unit, amount) in amounts {
      let (sum, overflow) = (sums[unit] ?? 0).addingReportingOverflow(amount)
      guard !overflow else {
        throw APIError.badRequest("The \(unit) of all these holds together do not fit 64 bits: choose fewer.")
      }
      sums[unit] = sum
    }
    return NamedValues(counts: sums)
  }
}

extension AdminHolds.HoldAction {
  fileprivate func decision(to receiver: LedgerAccount? = nil, amount: Int64? = nil) -> HoldDecision {
    switch self {
    case .release: .release(to: receiver, amount: amount)
    case .void: .void
    }
  }
}

extension HoldFilter {
  fileprivate init(_ filter: AdminHolds.HoldFilter) throws {
    if let uid = filter.uid, (try? Key(uid)) == nil { throw APIError.badRequest("\"uid\" can be no player's uid.") }
    self.init()
    (player, unit, reason) = (filter.uid, filter.unit, filter.reason)
    (since, until) = (filter.since?.milliseconds, filter.until?.milliseconds)
    (after, through) = (filter.after, filter.through)
  }
}

extension HoldEnding {
  /// What became of balances: of who got, of who got the rest.
  fileprivate var changes: [AdminLedger.BalanceChange] {
    [entry, rest].compactMap(\.self).map { entry in
      AdminLedger.BalanceChange(
        account: entry.transfer.credit.name, unit: entry.transfer.unit, before: entry.creditAfter - entry.transfer.amount,
        after: entry.creditAfter)
    }
  }
}

extension AdminHolds.RefusedHold {
  fileprivate init?(_ outcome: HoldOutcome) {
    guard case .failure(let error) = outcome.result else { return nil }
    self.init(hold: outcome.hold, error: error.message, code: error.code.description)
  }
}

extension AdminLedger.Ended {
  fileprivate init(_ ending: HoldEnding) {
    self.init(
      entry: AdminLedger.Entry(ending.entry), rest: ending.rest.map { AdminLedger.Entry($0) }, repeated: ending.isRepeated)
  }
}
