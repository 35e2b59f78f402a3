import APISupport
import AccessRules
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// What the rules would say: one operation tried in somebody's name, without doing it.
enum RuleRoutes {
  static let routes: [Route] = [
    Route.mutate(
      .POST, "/admin/v1/rules/explain", audit: nil,
      "Tries an operation in somebody's name and says what the rules say; nothing is done.",
      access: .viewer, explain
    ).described(
      RouteDescription(
        query: [.namespace],
        body: [
          .always("operation", .choice(["read", "set", "update", "delete"]), "what is tried"),
          .always("path", .text, "where: /users/bob"), .maybe("value", .any, "of a set or an update"),
          .maybe("auth", .any, "who asks: an object, as rules see it; null or nothing: nobody"),
          .maybe("query", .any, "of a read: the query object of the socket protocol"),
        ], answer: answer))
  ]

  private static let answer = JSONSchema.object([
    .always("operation", .text), .always("allowed", .boolean), .always("text", .text, "for people"),
    .always("rules", .list(.object([])), "every rule that was asked, in order, and what it looked at"),
  ])

  private static func explain(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let body = try call.body()
    let auth = try auth(body["auth"])
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
      target = try PathTarget(parsing: try body.required("path"))
    } catch let error as APIError {
      throw error
    } catch {
      throw .badRequest("\(error)")
    }
    if body["operation"] == "read" {
      return .json(try read(target.path, body["query"], auth, rules, namespace, call))
    }
    var request = CommitRequest(
      namespace: namespace, actor: auth?.actor ?? .anonymous, operations: [try operation(body, target)])
    request.access.auth = auth
    let note = RuleDecisionNote(isAlwaysWanted: true)
    request.access.note = note
    let result = await rehearse(request, call.services.database)
    if let judgement = note.judgement { return .json(judgement.json) }
    // It was refused before rules were asked; what they would say of a write that cannot be is not known.
    switch result {
    case .failure(let refusal): throw APIError(refusal)
    case .success: throw APIError(.internalServerError, "not_judged", "The rules were replaced meanwhile; ask again.")
    }
  }

  private static func read(
    _ path: Path, _ wire: JSON?, _ auth: AuthVariable?, _ rules: RuleSet, _ namespace: NamespaceID, _ call: RouteCall
  ) throws(APIError) -> JSON {
    var query: Query?
    do throws(QueryError) {
      if let wire { query = try Query(wire: wire) }
    } catch {
      throw .badRequest(error.description)
    }
    do throws(CommitError) {
      return try call.services.database.explainRead(path, query: query, in: namespace, as: auth, by: rules).json
    } catch {
      throw APIError(error)
    }
  }

  private static func auth(_ json: JSON?) throws(APIError) -> AuthVariable? {
    guard let json, !json.isNull else { return nil }
    guard json.object != nil else { throw .badRequest("\"auth\" must be an object or null.") }
    return AuthVariable(json: json)
  }

  private static func operation(_ body: JSON, _ target: PathTarget) throws(APIError) -> WriteOperation {
    let value = body["value"]
    if body["operation"] != "delete", value == nil { throw .badRequest("\"value\" is missing.") }
    do throws(WriteDataError) {
      switch body["operation"] {
      case "set": return try .set(target, json: value ?? .null)
      case "update": return try .update(target.path, json: value ?? .null)
      default: return try .set(target, json: .null)
      }
    } catch {
      throw .badRequest(error.description)
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
  static let routes: [Route] = [
    Route.list("/admin/v1/indexes", "The indexes of the rules and how far each is built; ns (all namespaces without).", list)
      .described(
        RouteDescription(
          query: [.namespace],
          answer: .object([
            .always(
              "indexes",
              .list(
                .object([
                  .always("namespace", .text), .always("path", .text, "where the parents stand"),
                  .always("index", .text, "what their children are ordered by"),
                  .always("state", .choice(["building", "ready", "dropping"])), .always("childrenIndexed", .count),
                  .maybe("at", .text, "how far building is"), .maybe("problem", .text, "why it does not go on"),
                ])))
          ])))
  ]

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let wanted = try call.query["ns"].map { (_) throws(APIError) in try call.namespace() }
    let rows = try call.read { (snapshot) throws(StorageError) -> [JSON] in
      var rows: [JSON] = []
      for namespace in try snapshot.namespaces() where wanted == nil || namespace.id == wanted {
        for index in try snapshot.indexes(in: namespace.id) {
          rows.append(row(index, in: namespace, problem: call.services.database.indexProblem(in: namespace.id)))
        }
      }
      return rows
    }
    return .json(["indexes": .array(rows)])
  }

  private static func row(_ index: IndexRecord, in namespace: NamespaceRecord, problem: String?) -> JSON {
    .record([
      ("namespace", .string(namespace.name)), ("path", .string(index.pattern)), ("index", .string(index.order)),
      ("state", .string(index.state.rawValue)), ("childrenIndexed", .int(index.childCount)),
      ("at", index.state == .building ? index.cursor.flatMap(\.path).map { .string($0.description) } : nil),
      ("problem", index.state == .ready ? nil : problem.map(JSON.string)),
    ])
  }
}
