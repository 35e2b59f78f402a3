import APISupport
import AdminModel
import HTTPServer
import Ledger
import NIOHTTP1
import NIOPosix
import RewardModel
import StorageCore

/// Tables of payments.
enum CompensationRoutes {
  static let routes: [Route] = [
    .changing(AdminCompensation.previewCompensation, audit: nil, answer: previewCompensation),
    .changing(AdminCompensation.compensate, audit: "ledger.compensate", answer: compensate),
  ]

  /// Lines of each kind that a preview shows.
  private static let linesMax = 100

  private static func previewCompensation(_ call: RouteCall, order: AdminCompensation.CompensationOrder) async throws
    -> AdminCompensation.CompensationPreview
  {
    let plan = try await plan(order, for: call)
    return AdminCompensation.CompensationPreview(
      lines: Int64(plan.count), pays: Int64(plan.payments.count), coins: NamedValues(counts: plan.sums),
      payments: plan.payments.prefix(linesMax).map { AdminCompensation.CompensationLine($0) },
      repeated: Int64(plan.repeats.count),
      repeats: plan.repeats.prefix(linesMax).map { AdminCompensation.CompensationLine($0.row, entry: $0.entry) },
      unknown: Int64(plan.strangers.count),
      unknownPlayers: plan.strangers.prefix(linesMax).map { AdminCompensation.CompensationLine($0) },
      faultCount: Int64(plan.faults.count),
      faults: plan.faults.prefix(linesMax).map {
        AdminCompensation.CompensationFault(line: Int64($0.line), column: $0.column, error: $0.message)
      })
  }

  private static func compensate(_ call: RouteCall, order: AdminCompensation.CompensationOrder) async throws
    -> AdminCompensation.Compensated
  {
    guard let reason = order.reason, !reason.isEmpty else {
      throw APIError.badRequest("Say why (\"reason\", or --reason): it stands with every payment that has no words of its own.")
    }
    let plan = try await plan(order, for: call)
    if let fault = plan.faults.first {
      let count = plan.faults.count == 1 ? "a line is" : "\(plan.faults.count) lines are"
      let place = fault.column.isEmpty ? "line \(fault.line)" : "line \(fault.line), column \(fault.column)"
      throw APIError.badRequest("Nothing was paid, for \(count) at fault, first \(place): \(fault.message)")
    }
    if let stranger = plan.strangers.first, order.allowUnknown != true {
      throw APIError(
        .conflict, "unknown_players",
        "Nothing was paid: of \(plan.strangers.count) lines, first line \(stranger.line), the player (\(stranger.account)) has no "
          + "account and no record. Take them out, or say that they are to be paid (allowUnknown, --allow-unknown).")
    }
    let ledger = try LedgerRoutes.ledger(call)
    let result = await Compensator(ledger).pay(plan, in: try call.namespace(), by: call.caller.actor, reason: reason)
    return AdminCompensation.Compensated(
      paid: Int64(result.paid), coins: NamedValues(counts: result.sums), repeated: Int64(result.repeated),
      refused: result.refusals.map {
        AdminCompensation.UnpaidLine(line: Int64($0.line), error: $0.error.message, code: $0.error.code.description)
      })
  }

  private static func plan(_ order: AdminCompensation.CompensationOrder, for call: RouteCall) async throws -> CompensationPlan {
    let (ledger, namespace) = (try LedgerRoutes.ledger(call), try call.namespace())
    return try await call.services.adminPool.runIfActive {
      let file = CompensationFile(
        csv: order.csv, unit: Currency.onlyUnit(of: ledger.declaredCurrencies), currencies: ledger.currencies)
      return try Compensator(ledger).plan(file, in: namespace)
    }
  }
}

extension AdminCompensation.CompensationLine {
  fileprivate init(_ row: CompensationFile.Row, entry: Int64? = nil) {
    self.init(
      line: Int64(row.line), account: row.account.name, amount: row.amount, unit: row.unit, key: row.key.text,
      reason: row.reason, entry: entry)
  }
}
