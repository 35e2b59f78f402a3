import APISupport
import AdminModel
import AccessRules
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// What the rules would say: one operation tried in somebody's name, without doing it.
enum RuleRoutes {
  static let routes: [Route] = [.changing(AdminAccess.explainRules, audit: nil, answer: explain)]

  private static func explain(_ call: RouteCall, order: AdminAccess.ExplainOrder) async throws -> AdminAccess.Explanation {
    let auth = try auth(order.auth)
    guard
      let rules = call.services.database.namespace(named: call.namespaceName)
        .flatMap({ call.services.database.catalog.ruleSet(of: $0) })
    else {
      throw APIError(
        .notFound, "no_rules", "\(call.namespaceName) has no rules; upload some: doubloon rules put FILE.")
    }
    let namespace = try call.namespace()
    let target: PathTarget
    do {
      target = try PathTarget(parsing: order.path)
    } catch {
      throw APIError.badRequest("\(error)")
    }
    if order.operation == .read {
      return try read(target.path, order.query, auth, rules, namespace, call)
    }
    var request = CommitRequest(
      namespace: namespace, actor: auth?.actor ?? .anonymous, operations: [try operation(order, at: target)])
    request.access.auth = auth
    let note = RuleDecisionNote(isAlwaysWanted: true)
    request.access.note = note
    let result = await rehearse(request, call.services.database)
    if let judgement = note.judgement { return AdminAccess.Explanation(judgement) }
    // It was refused before rules were asked; what they would say of a write that cannot be is not known.
    switch result {
    case .failure(let refusal): throw refusal
    case .success: throw APIError(.internalServerError, "not_judged", "The rules were replaced meanwhile; ask again.")
    }
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
      try call.services.database.explainRead(path, query: query, in: namespace, as: auth, by: rules))
  }

  private static func auth(_ json: JSON?) throws -> AuthVariable? {
    guard let json, !json.isNull else { return nil }
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

/// The indexes that the rules declare, and how far they are.
enum IndexRoutes {
  static let routes: [Route] = [.reading(AdminAccess.indexes, by: list)]

  private static func list(_ call: RouteCall, query _: NoQuery) throws -> AdminAccess.IndexList {
    let wanted = try call.query["ns"].map { _ in try call.namespace() }
    return try call.read { snapshot in
      var rows: [AdminAccess.Index] = []
      for namespace in try snapshot.namespaces() where wanted == nil || namespace.id == wanted {
        for index in try snapshot.indexes(in: namespace.id) {
          rows.append(
            AdminAccess.Index(index, of: namespace, problem: call.services.database.indexProblem(in: namespace.id)))
        }
      }
      return AdminAccess.IndexList(indexes: rows)
    }
  }
}

extension AdminAccess.Explanation {
  fileprivate init(_ explanation: RuleExplanation) {
    self.init(
      operation: explanation.operation, allowed: explanation.isAllowed, text: explanation.text,
      rules: explanation.steps.map(\.json))
  }

  fileprivate init(_ decision: RuleDecisionNote.RuleDecision) {
    self.init(
      operation: decision.operation, allowed: decision.isAllowed, text: decision.text, rules: decision.rules)
  }
}

extension AdminAccess.Index {
  fileprivate init(_ index: IndexRecord, of namespace: NamespaceRecord, problem: String?) {
    let state: AdminAccess.IndexState =
      switch index.state {
      case .building: .building
      case .ready: .ready
      case .dropping: .dropping
      }
    self.init(
      namespace: namespace.name, path: index.pattern, index: index.order, state: state, childrenIndexed: index.childCount,
      at: index.state == .building ? index.cursor.flatMap(\.path)?.description : nil,
      problem: index.state == .ready ? nil : problem)
  }
}
