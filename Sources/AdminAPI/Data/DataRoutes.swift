import APISupport
import AdminModel
import HTTPServer
import StorageCore
import TreeDatabase
import TreeModel

/// The tree in windows, and writes with conditions, reasons and previews.
enum DataRoutes {
  static let routes: [Route] = [
    .reading(AdminTree.children, by: children),
    .changing(AdminTree.put, audit: "data.set") { call, order in try await write(call, order: order, method: .put) },
    .changing(AdminTree.patch, audit: "data.update") { call, order in try await write(call, order: order, method: .patch) },
    .changing(AdminTree.remove, audit: "data.remove") { call, order in try await write(call, order: order, method: .delete) },
    .changing(AdminTree.preview, audit: nil, answer: preview),
  ]

  // MARK: Windows

  private static func children(_ call: RouteCall, query: AdminTree.ChildrenQuery) throws -> AdminTree.Children {
    let path = try path(query.path)
    let moment = try Moment(revision: query.revision, time: query.time, named: ("revision", "time"))
    let (wanted, anchor) = (try wanted(query), try anchor(query))
    let order = wanted.order
    if order != .key, query.from != nil {
      throw APIError.badRequest("from goes with order=$key only; in another order ge=VALUE begins where you want.")
    }
    // A database of development is there as soon as somebody looks.
    if call.services.createsNamespaces, NamespaceName.isLegal(call.namespaceName),
      call.services.database.namespace(named: call.namespaceName) == nil
    {
      return AdminTree.Children(path: path.description, revision: 0, exists: false, rows: [])
    }
    let (namespace, limit) = (try call.namespace(), Int(query.limit ?? 100))
    return try call.readChecked { (snapshot) -> Result<AdminTree.Children, APIError> in
      let revision: Revision
      switch try moment.revision(in: namespace, snapshot: snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let found): revision = found
      }
      let erased: [ErasedPath]
      switch try HistoryRoutes.missing(at: path, namespace: namespace, asOf: revision, in: snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let paths): erased = paths
      }
      do {
        var listing = try ChildListing(of: path, in: namespace, asOf: revision, limit: limit, snapshot: snapshot)
        var answer =
          order == .key
          ? try listing.window(at: anchor) : try listing.window(wanted, at: anchor, reader: call.services.database.reader)
        answer.erased = HistoryRoutes.listed(erased)
        return .success(answer)
      } catch let error as TreeReadError {
        return .failure(refusal(of: error))
      }
    }
  }

  private static func refusal(of error: TreeReadError) -> APIError {
    switch error {
    case .storage(let error): APIError(error)
    case .tooLarge, .stopped:
      .badRequest(
        "Too much has changed there since that revision to show a window of it. Ask for a later revision, or begin elsewhere with from=KEY."
      )
    }
  }

  /// The order that is asked for, and the bounds on it.
  private static func wanted(_ query: AdminTree.ChildrenQuery) throws -> Query {
    let order = try order(query.order)
    if query.eq != nil, query.ge != nil || query.le != nil {
      throw APIError.badRequest("eq excludes ge and le: give the one, or one or both of the others.")
    }
    if order == .key, query.eq != nil || query.ge != nil || query.le != nil {
      throw APIError.badRequest("eq, ge and le go with an order by values; by $key, from=KEY begins where you want.")
    }
    let (start, end) = (query.eq ?? query.ge, query.eq ?? query.le)
    return Query(
      order: order, start: try start.map { QueryBound.start(try value($0)) },
      end: try end.map { QueryBound.end(try value($0)) })
  }

  /// A value that children are ordered by, written as JSON; nil for null.
  private static func value(_ text: String) throws -> Scalar? {
    guard let json = try? JSONParser.parse(text), json.object == nil, json.array == nil else {
      throw APIError.badRequest("eq, ge and le are values as JSON: 5, true, null, or a text in quotes, \"gold\".")
    }
    return json.isNull ? nil : try? TreeNode(json: json).scalar
  }

  private static func order(_ name: String?) throws -> NodeOrder {
    switch name {
    case nil, "$key": return .key
    case "$priority": return .priority
    case "$value": return .value
    case let name?:
      guard let path = try? Path(parsing: name), !path.isRoot else {
        throw APIError.badRequest("order must be $key, $priority, $value or a path below the child, such as level.")
      }
      return .child(path)
    }
  }

  private static func anchor(_ query: AdminTree.ChildrenQuery) throws -> ChildListing.Anchor {
    let named = [query.after, query.before, query.from].compactMap(\.self)
    guard named.count <= 1 else { throw APIError.badRequest("after, before and from exclude each other: give one of them.") }
    guard let text = named.first else { return .first }
    let key: Key
    do {
      key = try Key(text)
    } catch {
      throw APIError.badRequest("\(error)")
    }
    return query.after != nil ? .after(key) : query.before != nil ? .before(key) : .from(key)
  }

  static func path(_ text: String) throws -> Path {
    do {
      return try Path(parsing: text)
    } catch {
      throw APIError.badRequest("\(error)")
    }
  }

  // MARK: Writes

  private static func write(_ call: RouteCall, order: AdminTree.WriteOrder, method: AdminTree.Method) async throws
    -> AdminTree.Written
  {
    let write = try ProposedWrite(call, path: order.path, value: order.value, method: method)
    let name = call.namespaceName
    let database = call.services.database
    let namespace =
      call.services.createsNamespaces ? try await database.openNamespace(named: name) : try call.namespace()
    var request = try write.request(call, in: namespace, triggers: order.triggers ?? true)
    if let since = order.ifRevision {
      request.preconditions.unchanged = [try await write.condition(call, in: namespace, since: since)]
    }
    do {
      let receipt = try await database.commit(request)
      return AdminTree.Written(
        revision: receipt.revision.rawValue, changed: receipt.changed, events: Int64(receipt.events.count))
    } catch {
      throw ProposedWrite.refusal(of: error)
    }
  }

  private static func preview(_ call: RouteCall, order: AdminTree.PreviewOrder) async throws -> AdminTree.Preview {
    let write = try ProposedWrite(call, path: order.path, value: order.value, method: order.method)
    if let uid = order.uid, (try? Key(uid)) == nil { throw APIError.badRequest("\"uid\" can be no player's uid.") }
    let namespace = try call.namespace()
    var request = try write.request(call, in: namespace, triggers: order.triggers ?? true)
    if let since = order.ifRevision {
      request.preconditions.unchanged = [try await write.condition(call, in: namespace, since: since)]
    }
    return try await write.preview(call, of: request, as: order.uid)
  }
}
