import APISupport
import HTTPServer
import StorageCore
import TreeDatabase
import TreeModel

/// The indexes that the rules declare, and how far they are.
enum IndexRoutes {
  static let routes: [Route] = [
    Route.listing("/admin/v1/indexes", "The indexes of the rules and how far each is built; ns (all namespaces without).", list)
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
