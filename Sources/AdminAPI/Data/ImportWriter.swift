import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

/// Commits a part of a document, or only tries it.
struct ImportWriter {
  /// Values that one commit compares: other writers wait while it is made. With functions a commit makes 1,000 events at most.
  private static let valuesMax = (plain: 10_000, withFunctions: 500)
  /// How often a part is begun again because others wrote below the place meanwhile.
  private static let attemptsMax = 8

  let call: RouteCall
  let namespace: NamespaceID
  let part: ImportPart
  let order: AdminTree.ImportOrder

  /// Takes as much of the part as one commit takes.
  func write() async throws -> AdminTree.Imported {
    var valuesMax = order.triggers == true ? Self.valuesMax.withFunctions : Self.valuesMax.plain
    var attempts = 1
    while true {
      let plan = try await call.services.adminPool.runIfActive { [valuesMax] in
        try call.read { snapshot in try ImportPlan(part, in: namespace, valuesMax: valuesMax, snapshot: snapshot) }
      }
      if plan.values.isEmpty, plan.priorities.isEmpty { return plan.answer }
      do {
        let receipt = try await commit(plan)
        var answer = plan.answer
        answer.events = Int64(receipt.events.count)
        if order.dryRun != true { answer.revision = receipt.revision.rawValue }
        return answer
      } catch let error as CommitError {
        switch error.code {
        case .stale where attempts < Self.attemptsMax: attempts += 1
        case .tooLarge where plan.steps > 1, .triggersExceeded where plan.steps > 1: valuesMax = plan.steps / 2
        case .tooLarge: throw tooLarge(plan)
        default: throw ProposedWrite.refusal(of: error)
        }
      }
    }
  }

  private func commit(_ plan: ImportPlan) async throws -> CommitReceipt {
    var request = CommitRequest(namespace: namespace, actor: call.caller.actor)
    request.operations = try [plan.values, plan.priorities].filter { !$0.isEmpty }.map { assignments in
      try WriteOperation.update(part.base, assignments)
    }
    request.access.auth = call.caller.auth
    request.log.requestID = call.request.requestID
    request.triggers.areSuppressed = order.triggers != true
    request.ledger.isImport = true
    request.preconditions.unchanged = [
      CommitRequest.Unwritten(path: part.base, since: Revision(plan.answer.revision))
    ]
    let database = call.services.database
    guard order.dryRun == true else { return try await database.commit(request) }
    return try await ProposedWrite.rehearse(request, database).get().receipt
  }

  private func tooLarge(_ plan: ImportPlan) -> APIError {
    let place = (plan.values.first ?? plan.priorities.first)?.path.description ?? part.base.description
    return APIError(
      .badRequest, "too_large",
      "\(place) would replace more than one commit may remove. Remove it first (doubloon data remove \(place)), then go on.")
  }
}
