import APISupport
import AdminModel
import HTTPServer
import Ledger
import NIOHTTP1
import NIOPosix
import PlayerLifecycle
import RewardModel
import StorageCore
import TreeDatabase
import TreeModel

/// A write as an administrator sends it: made, or only tried.
struct ProposedWrite {
  /// Events that a preview shows.
  private static let eventsMax = 20
  /// Balances that a preview shows.
  private static let adjustmentsMax = 100
  /// Pages of the history that are looked through for a condition, of some thousand commits each.
  private static let pagesMax = 200

  let operation: WriteOperation

  init(_ call: RouteCall, path: String, value: JSON?, method: AdminTree.Method) throws {
    let bounds = call.services.database.limits.bounds
    // Null is a value, and nothing is a mistake: it must not remove what stands there.
    let isGiven = try call.body()["value"] != nil
    let target: PathTarget
    do {
      target = try PathTarget(parsing: path)
    } catch {
      throw APIError.badRequest("\(error)")
    }
    guard method == .delete || isGiven else { throw APIError.badRequest("\"value\" is missing; null removes.") }
    guard method != .delete || value == nil else {
      throw APIError.badRequest("DELETE takes no \"value\"; PUT replaces, PATCH changes places below.")
    }
    if method == .patch {
      guard !target.isPriority else { throw APIError.badRequest("A .priority has no children: replace it with PUT.") }
      guard value?.object != nil else {
        throw APIError.badRequest("\"value\" must be an object of paths below and their values.")
      }
    }
    do throws(WriteDataError) {
      switch method {
      case .put: operation = try .set(target, json: value ?? .null, bounds: bounds)
      case .patch: operation = try .update(target.path, json: value ?? .null, bounds: bounds)
      case .delete: operation = target.isPriority ? .setPriority(target.path, priority: .scalar(nil)) : .remove(target.path)
      }
    } catch {
      throw APIError(error)
    }
  }

  func request(_ call: RouteCall, in namespace: NamespaceID, triggers: Bool) throws -> CommitRequest {
    var request = CommitRequest(namespace: namespace, actor: call.caller.actor, operations: [operation])
    request.access.auth = call.caller.auth
    request.log.requestID = call.request.requestID
    request.triggers.areSuppressed = !triggers
    return request
  }

  static func refusal(of error: CommitError) -> APIError {
    switch error.code {
    case .stale: APIError(.conflict, "conflict", error.message)
    case .tooLarge:
      APIError(
        .badRequest, "too_large",
        "\(error.message) Write or remove smaller parts; \"doubloon data remove\" and \"doubloon data import\" do so by themselves."
      )
    default: APIError(error)
    }
  }

  // MARK: The condition

  /// What the writer has to check so that nothing at the path or below has changed since a revision.
  ///
  /// The commits up to now are looked through here, by their history; the writer looks at those that come in between.
  func condition(_ call: RouteCall, in namespace: NamespaceID, since: Int64) async throws -> CommitRequest.Unwritten {
    let path = operation.path
    return try await call.services.adminPool.runIfActive {
      try call.readChecked { (snapshot) -> Result<CommitRequest.Unwritten, APIError> in
        let head = try snapshot.head(of: namespace).revision
        guard since <= head.rawValue else {
          return .failure(.badRequest("There is no revision \(since): ifRevision must be 0 to \(head), the newest."))
        }
        if let touch = try Self.touch(of: path, in: namespace, since: since, snapshot: snapshot) {
          return .failure(
            APIError(
              .conflict, "conflict", "\(path) was changed by revision \(touch), after \(since). Read it again and retry."))
        }
        return .success(CommitRequest.Unwritten(path: path, since: head))
      }
    }
  }

  /// The last commit after a revision that changed something at a path or below; nil if none did.
  private static func touch(of path: Path, in namespace: NamespaceID, since: Int64, snapshot: any Snapshot) throws -> Revision?
  {
    var before: Revision?
    for _ in 0..<pagesMax {
      let page = try snapshot.touches(in: namespace, under: PathBytes(path), before: before, limit: 1)
      if let newest = page.revisions.first { return newest.rawValue > since ? newest : nil }
      if page.isComplete, page.prunedThrough.rawValue <= since { return nil }
      if page.isComplete { return page.prunedThrough }
      if page.scannedThrough.rawValue <= since + 1 { return nil }
      before = page.scannedThrough
    }
    return before
  }

  // MARK: The preview

  /// What the request would do, judged by the writer on what is there now; all of it is taken back.
  ///
  /// - `uid`: a player as whom the rules are asked; nil for none.
  func preview(_ call: RouteCall, of request: CommitRequest, as uid: String? = nil) async throws -> AdminTree.Preview {
    let database = call.services.database
    let places = operation.assignments.map(\.pathBytes)
    let leavesMax = database.limits.leavesMax
    let before = try await call.services.adminPool.runIfActive {
      try call.read { snapshot in
        try places.reduce(0) { count, place in
          try count
            + snapshot.leaves(in: request.namespace, under: place, limit: leavesMax + 1).count { !$0.leaf.path.isPriority }
        }
      }
    }
    let result = await Self.rehearse(request, database)
    let committed: CommittedRequest
    switch result {
    case .failure(let error): throw Self.refusal(of: error)
    case .success(let found): committed = found
    }
    let values = committed.changes.filter { !$0.path.isPriority }
    let inside = values.filter { change in places.contains { $0.contains(change.path) } }
    let added = inside.count { $0.before == nil } - inside.count { $0.after == nil }
    let functions = call.services.functions?.descriptions ?? []
    let adjustments = adjustments(of: values, currencies: call.services.ledger?.declaredCurrencies ?? [])
    let events = committed.receipt.events
    return AdminTree.Preview(
      leavesBefore: Int64(before), leavesAfter: Int64(max(before + added, 0)),
      leavesRemoved: Int64(values.count { $0.after == nil }),
      events: events.prefix(Self.eventsMax).map { Self.expected($0, of: values, functions: functions) },
      eventCount: Int64(events.count), adjustments: Array(adjustments.prefix(Self.adjustmentsMax)),
      adjustmentCount: Int64(adjustments.count), rules: try await verdict(call, on: request, as: uid))
  }

  /// What became of a request that is only tried.
  static func rehearse(_ request: CommitRequest, _ database: Database) async -> Result<CommittedRequest, CommitError> {
    await withCheckedContinuation { continuation in
      database.rehearse([request]) { results in
        continuation.resume(
          returning: results.first ?? .failure(CommitError(.unavailable, "The server is shutting down.")))
      }
    }
  }

  /// What the rules would say to a player who made the write; nil where none is named, and where there are no rules.
  private func verdict(_ call: RouteCall, on request: CommitRequest, as uid: String?) async throws -> AdminTree.Verdict? {
    guard let uid, call.services.database.catalog.ruleSet(of: request.namespace) != nil else { return nil }
    var asked = request
    asked.actor = .user(uid: uid)
    asked.access.auth = AuthVariable(json: ["uid": .string(uid)])
    asked.preconditions.unchanged = []
    let note = RuleDecisionNote(isAlwaysWanted: true)
    asked.access.note = note
    _ = await Self.rehearse(asked, call.services.database)
    guard let judgement = note.judgement else { return nil }
    let rule = judgement.rules.last { $0["value"]?.bool == judgement.isAllowed }
    return AdminTree.Verdict(uid: uid, allowed: judgement.isAllowed, line: rule?["line"]?.int)
  }

  /// An event with the functions that it would be given to.
  private static func expected(_ event: EventRecord, of changes: [LeafChange], functions: [FunctionDescription])
    -> AdminTree.ExpectedEvent
  {
    let path = event.id.path
    let exact = changes.first { $0.path == path }
    let names = functions.filter { function in
      guard let path = path.path, function.kinds.contains(event.kind) else { return false }
      return function.pattern.match(path) != nil && function.admits(exact?.before, exact?.after)
    }.map(\.name)
    return AdminTree.ExpectedEvent(
      path: path.path?.description ?? "?", kind: AdminEvents.Kind(event.kind), functions: names)
  }

  /// The balances among the changes, with what the ledger would take note of.
  private func adjustments(of changes: [LeafChange], currencies: [Currency]) -> [AdminTree.Adjustment] {
    changes.compactMap { change in
      let (before, after) = (change.before?.intValue ?? 0, change.after?.intValue ?? 0)
      guard before != after, let path = change.path.path else { return nil }
      for currency in currencies {
        guard let account = currency.account(at: path) else { continue }
        return AdminTree.Adjustment(
          path: path.description, account: account.name, unit: currency.unit, before: before, after: after)
      }
      return nil
    }
  }
}
