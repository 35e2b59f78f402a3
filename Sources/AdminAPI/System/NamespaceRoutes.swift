import APISupport
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// The namespaces of the store.
enum NamespaceRoutes {
  static let routes: [Route] = [
    Route.listing("/admin/v1/namespaces", "The namespaces, each with its revision.", list).described(
      RouteDescription(
        answer: .object([
          .always(
            "namespaces",
            .list(
              .object([
                .always("name", .text), .always("createdAt", .time), .always("revision", .count), .always("entries", .count),
              ])))
        ]))),
    Route.change(.POST, "/admin/v1/namespaces", audit: "namespaces.create", "Makes a namespace.", create).described(
      RouteDescription(
        body: [.always("name", .form("^[A-Za-z0-9-]{1,64}$"), "1 to 64 letters, digits and hyphens")],
        answer: .object([.always("status", .choice(["ok"])), .always("name", .text)]))),
    Route.change(
      .DELETE, "/admin/v1/namespaces/{name}", audit: "namespaces.delete",
      "Forgets a namespace whole: tree, log, ledger (development only).", access: .adminInDevelopment, delete
    ).described(
      RouteDescription(captures: [.init("name", .filled, required: true, "The namespace.")], answer: .named("Done"))),
  ]

  private static func list(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let rows = try call.read { (snapshot) throws(StorageError) -> [JSON] in
      var rows: [JSON] = []
      for record in try snapshot.namespaces() {
        let head = try snapshot.head(of: record.id)
        rows.append([
          "name": .string(record.name), "createdAt": .int(record.createdAt), "revision": .int(head.revision.rawValue),
          "entries": .int(head.entrySequence),
        ])
      }
      return rows
    }
    return .json(["namespaces": .array(rows)])
  }

  private static func create(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let name = try call.body().required("name")
    do throws(CommitRefusal) {
      _ = try await call.services.database.openNamespace(named: name)
    } catch {
      throw APIError(error)
    }
    return .json(["status": "ok", "name": .string(name)])
  }

  private static func delete(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let name = call.captures["name"] ?? ""
    guard let id = call.services.database.namespace(named: name) else { throw .unknownNamespace(name) }
    do throws(CommitRefusal) {
      try await call.services.database.forgetNamespace(named: name)
    } catch {
      throw APIError(error)
    }
    call.services.functions?.forget(id)
    return .json(["status": "ok"])
  }
}
