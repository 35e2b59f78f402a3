import AdminModel
import APISupport
import HTTPServer
import Ledger
import NIOHTTP1
import RewardModel
import StorageCore
import TreeModel

extension LedgerRoutes {
  static func transfer(_ call: RouteCall, order: AdminLedger.TransferOrder) async throws -> AdminLedger.Posted {
    let ledger = try ledger(call)
    let transfer = try transfer(order, of: ledger)
    let namespace = try call.namespace()
    return AdminLedger.Posted(
      try await ledger.transfer(transfer, in: namespace, by: call.caller.actor))
  }

  static func previewTransfer(_ call: RouteCall, order: AdminLedger.TransferOrder) async throws -> AdminLedger.TransferPreview {
    let ledger = try ledger(call)
    let transfer = try transfer(order, of: ledger)
    let namespace = try call.namespace()
    let preview = try await ledger.preview(transfer, in: namespace, by: call.caller.actor)
    return AdminLedger.TransferPreview(
      repeats: preview.earlier?.sequence, balances: preview.changes.map { AdminLedger.BalanceChange($0) },
      spent: preview.isSpent, refusal: preview.refusal.map { AdminRefusal($0) })
  }

  private static func transfer(_ order: AdminLedger.TransferOrder, of ledger: LedgerService) throws -> LedgerTransfer {
    LedgerTransfer(
      debit: LedgerAccount(order.debit), credit: LedgerAccount(order.credit), amount: order.amount,
      unit: try unit(order.unit, of: ledger), code: order.code ?? "transfer", key: BusinessKey(order.key),
      subject: order.subject, reason: order.reason, allowsNegative: order.allowNegative ?? false)
  }

  static func reverse(_ call: RouteCall, order: AdminLedger.ReverseOrder) async throws -> AdminLedger.Posted {
    let ledger = try ledger(call)
    let namespace = try call.namespace()
    return AdminLedger.Posted(
      try await ledger.reverse(
        order.sequence, in: namespace, by: call.caller.actor, reason: order.reason, policy: policy(order.policy)))
  }

  static func previewReversal(_ call: RouteCall, order: AdminLedger.ReversePreviewOrder) async throws
    -> AdminLedger.ReversalPreview
  {
    let ledger = try ledger(call)
    let namespace = try call.namespace()
    let preview = try await ledger.previewReversal(
      of: order.sequence, in: namespace, by: call.caller.actor, reason: order.reason, policy: policy(order.policy))
    return AdminLedger.ReversalPreview(
      entry: AdminLedger.Entry(preview.entry, reversedBy: preview.reversal?.sequence),
      reversedBy: preview.reversal?.sequence, balances: preview.transfer.changes.map { AdminLedger.BalanceChange($0) },
      spent: preview.transfer.isSpent, refusal: preview.transfer.refusal.map { AdminRefusal($0) })
  }

  private static func policy(_ named: AdminLedger.ReversalPolicy?) -> ReversalPolicy {
    switch named {
    case .allowNegative, nil: .allowNegative
    case .refuse: .refuse
    }
  }

  static func hold(_ call: RouteCall, order: AdminLedger.HoldOrder) async throws -> AdminLedger.Posted {
    let ledger = try ledger(call)
    let unit = try unit(order.unit, of: ledger)
    let hold = HoldOrder(
      from: LedgerAccount(order.from), owner: owner(order.owner, unit: unit, of: ledger), amount: order.amount, unit: unit,
      key: BusinessKey(order.key), expiresAt: order.expiresAt?.milliseconds, subject: order.subject, reason: order.reason)
    let namespace = try call.namespace()
    return AdminLedger.Posted(
      try await ledger.hold(hold, in: namespace, by: call.caller.actor))
  }

  static func release(_ call: RouteCall, order: AdminLedger.ReleaseOrder) async throws -> AdminLedger.Ended {
    let (ledger, sequence, namespace) = (try ledger(call), try sequence(call), try call.namespace())
    let receiver: LedgerAccount
    if let named = order.to {
      receiver = LedgerAccount(named)
    } else {
      receiver = try ownAccount(ofHold: sequence, in: namespace, of: ledger)
    }
    if !call.caller.isAdmin { try checkReceiver(receiver, ofHold: sequence, in: namespace, of: ledger) }
    return AdminLedger.Ended(
      try await ledger.release(
        sequence, to: receiver, amount: order.amount, in: namespace, by: call.caller.actor, reason: order.reason))
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

  /// The account of the player in whose name coins are held.
  private static func ownAccount(ofHold sequence: Int64, in namespace: NamespaceID, of ledger: LedgerService) throws
    -> LedgerAccount
  {
    let entry = try ledger.entry(in: namespace, sequence: sequence)
    guard let hold = entry?.transfer, hold.credit.isHold else {
      throw APIError(
        .notFound, "not_found", "Entry \(sequence) made no hold; \"doubloon ledger holds list\" shows those that wait.")
    }
    let holders = Set(ledger.declaredCurrencies.filter { $0.unit == hold.unit }.map(\.holder))
    guard holders.count == 1, let holder = holders.first else {
      throw APIError.badRequest("\(hold.unit) is held by several kinds of account: say which gets the coins (\"to\", or --to).")
    }
    return LedgerAccount("\(holder):\(hold.credit.owner)")
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
}

extension AdminLedger.Posted {
  init(_ posted: PostedTransfer) { self.init(entry: AdminLedger.Entry(posted.entry), repeated: posted.isRepeated) }
}

extension AdminLedger.Ended {
  init(_ ending: HoldEnding) {
    self.init(
      entry: AdminLedger.Entry(ending.entry), rest: ending.rest.map { AdminLedger.Entry($0) }, repeated: ending.isRepeated)
  }
}

extension AdminLedger.BalanceChange {
  fileprivate init(_ change: TransferPreview.Change) {
    self.init(account: change.account.name, unit: change.unit, before: change.before, after: change.after)
  }
}

extension AdminRefusal {
  /// What the ledger would say.
  fileprivate init(_ error: LedgerError) { self.init(error: error.message, code: error.code.description) }
}
