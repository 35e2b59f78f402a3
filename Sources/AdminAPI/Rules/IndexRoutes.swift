import APISupport
import AdminModel
import HTTPServer
import StorageCore
import TreeDatabase
import TreeModel

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
