import APISupport
import AdminModel
import HTTPServer
import StorageCore
import TreeDatabase
import TreeModel

/// The tree as documents: taken out whole, taken in part by part.
///
/// A download is the state of one revision, however long it takes. An import is not one write: its client sends the document's
/// values in the order of the tree, some at a time, and says up to where it is. Each part is a commit that makes its stretch of
/// the tree what the document says, removals included; nothing is kept between the parts. So a part is there whole or not at
/// all, an import that ends early has everything up to its last part, and goes on from there.
enum TransferRoutes {
  static let routes: [Route] = [
    Route.download(
      RouteTemplate(stringLiteral: AdminTree.export.template), audit: "data.export", summary: AdminTree.export.summary,
      body: export
    ).described(RouteDescription(of: AdminTree.export)),
    .changing(AdminTree.take, audit: "data.import", answer: take),
  ]

  private static func export(_ call: RouteCall) throws -> HTTPDownload {
    let query = try call.query(as: AdminTree.ExportQuery.self)
    let path = try DataRoutes.path(query.path)
    let moment = try Moment(revision: query.revision, time: query.time, named: ("revision", "time"))
    let namespace = try call.namespace()
    let engine = call.services.database.engine
    let (revision, erased) = try call.readChecked { (snapshot) -> Result<(Revision, [ErasedPath]), APIError> in
      switch try moment.revision(in: namespace, snapshot: snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let revision):
        return try HistoryRoutes.missing(at: path, namespace: namespace, asOf: revision, in: snapshot).map { (revision, $0) }
      }
    }
    let document = ExportDocument(of: path, in: namespace, asOf: revision, engine: engine)
    try document.begin()
    var headers = [
      HTTPResponse.Header("Content-Disposition", "attachment; filename=\"\(call.namespaceName)-r\(revision).json\""),
      HTTPResponse.Header("X-Doubloon-Revision", "\(revision)"),
    ]
    // Of players who left nothing is known: who restores from this must know.
    if !erased.isEmpty { headers.append(HTTPResponse.Header("X-Doubloon-Erased", "\(erased.count)")) }
    return HTTPDownload(headers: headers) { try document.next() }
  }

  private static func take(_ call: RouteCall, order: AdminTree.ImportOrder) async throws -> AdminTree.Imported {
    let database = call.services.database
    let part = try ImportPart(order, bounds: database.limits.bounds)
    let name = call.namespaceName
    let namespace =
      call.services.createsNamespaces ? try await database.openNamespace(named: name) : try call.namespace()
    return try await ImportWriter(call: call, namespace: namespace, part: part, order: order).write()
  }
}
