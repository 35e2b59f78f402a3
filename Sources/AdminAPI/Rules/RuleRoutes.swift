import APISupport
import AccessRules
import AdminModel
import Credentials
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// What the rules would say: one operation tried in somebody's name, without doing it.
enum RuleRoutes {
  static let routes: [Route] =
    [.changing(AdminAccess.explainRules, audit: nil, answer: explain)] + RuleSourceRoutes.routes + RuleTestRoutes.routes

  private static func explain(_ call: RouteCall, order: AdminAccess.ExplainOrder) async throws -> AdminAccess.Explanation {
    let auth = try auth(order, call)
    let target: PathTarget
    do {
      target = try PathTarget(parsing: order.path)
    } catch {
      throw APIError.badRequest("\(error)")
    }
    let database = call.services.database
    guard let namespace = try RuleSourceRoutes.known(call), let rules = database.catalog.ruleSet(of: namespace)
    else { return unruled(call, order, at: target, as: auth) }
    if order.operation == .read {
      return try read(target.path, order.query, auth, rules, namespace, call)
    }
    var request = CommitRequest(
      namespace: namespace, actor: auth?.actor ?? .anonymous, operations: [try operation(order, at: target)])
    request.access.auth = auth
    let note = RuleDecisionNote(isAlwaysWanted: true)
    request.access.note = note
    let result = await rehearse(request, database)
    if let judgement = note.judgement { return AdminAccess.Explanation(judgement, as: auth) }
    // It was refused before rules were asked; what they would say of a write that cannot be is not known.
    switch result {
    case .failure(let refusal): throw refusal
    case .success: throw APIError(.internalServerError, "not_judged", "The rules were replaced meanwhile; ask again.")
    }
  }

  /// Where nobody has put rules the mode of the server decides.
  private static func unruled(
    _ call: RouteCall, _ order: AdminAccess.ExplainOrder, at target: PathTarget, as auth: AuthVariable?
  ) -> AdminAccess.Explanation {
    let isAllowed = call.services.isDevelopment
    let operation = "\(order.operation.rawValue) \(target.path)"
    let why =
      isAllowed
      ? "this server is in development, where everybody may then read and write" : "a server in production then lets nobody in"
    return AdminAccess.Explanation(
      operation: operation, allowed: isAllowed, hasRules: false,
      text:
        "\(isAllowed ? "Allowed" : "Denied"): \(operation)\n  \(call.namespaceName) has no rules, and \(why). Put some: doubloon "
        + "rules put FILE.", rules: [], auth: auth?.json ?? .null)
  }

  private static func read(
    _ path: Path, _ wire: JSON?, _ auth: AuthVariable?, _ rules: RuleSet, _ namespace: NamespaceID, _ call: RouteCall
  ) throws -> AdminAccess.Explanation {
    var query: Query?
    do {
      if let wire { query = try Query(wire: wire) }
    } catch {
      throw APIError.badRequest(error.description)
    }
    return AdminAccess.Explanation(
      try call.services.database.explainRead(path, query: query, in: namespace, as: auth, by: rules), as: auth)
  }

  private static func auth(_ order: AdminAccess.ExplainOrder, _ call: RouteCall) throws -> AuthVariable? {
    if let account = order.account {
      if order.auth?.isNull == false { throw APIError.badRequest("\"account\" and \"auth\" exclude each other: give one.") }
      return try AccountRoutes.auth(of: account, call)
    }
    guard let json = order.auth, !json.isNull else { return nil }
    guard json.object != nil else { throw APIError.badRequest("\"auth\" must be an object or null.") }
    return AuthVariable(json: json)
  }

  private static func operation(_ order: AdminAccess.ExplainOrder, at target: PathTarget) throws -> WriteOperation {
    if order.operation != .delete, order.value == nil { throw APIError.badRequest("\"value\" is missing.") }
    do {
      switch order.operation {
      case .set: return try .set(target, json: order.value ?? .null)
      case .update: return try .update(target.path, json: order.value ?? .null)
      case .read, .delete: return try .set(target, json: .null)
      }
    } catch {
      throw APIError.badRequest(error.description)
    }
  }

  private static func rehearse(_ request: CommitRequest, _ database: Database) async
    -> Result<CommittedRequest, CommitError>
  {
    await withCheckedContinuation { continuation in
      database.rehearse([request]) { results in
        continuation.resume(
          returning: results.first ?? .failure(CommitError(.unavailable, "The server is shutting down.")))
      }
    }
  }
}

extension AdminAccess.Explanation {
  fileprivate init(_ explanation: RuleExplanation, as auth: AuthVariable?) {
    self.init(
      operation: explanation.operation, allowed: explanation.isAllowed, text: explanation.text,
      rules: explanation.steps.map(\.json), auth: auth?.json ?? .null)
  }

  fileprivate init(_ decision: RuleDecisionNote.RuleDecision, as auth: AuthVariable?) {
    self.init(
      operation: decision.operation, allowed: decision.isAllowed, text: decision.text, rules: decision.rules,
      auth: auth?.json ?? .null)
  }
}
