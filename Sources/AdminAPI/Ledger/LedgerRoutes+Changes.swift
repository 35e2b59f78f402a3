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
}

extension AdminLedger.Posted {
  init(_ posted: PostedTransfer) { self.init(entry: AdminLedger.Entry(posted.entry), repeated: posted.isRepeated) }
}

extension AdminLedger.BalanceChange {
  init(_ change: TransferPreview.Change) {
    self.init(account: change.account.name, unit: change.unit, before: change.before, after: change.after)
  }
}

extension AdminRefusal {
  /// What the ledger would say.
  init(_ error: LedgerError) { self.init(error: error.message, code: error.code.description) }
}
