import HTTPServer
import NIOHTTP1
import TreeModel

/// The parameters of a query over a node's children (Firebase's REST reference): `orderBy`, bounds and limits.
struct QueryParameters: Sendable {
  private(set) var orderBy: String?
  private var bounds: [(name: String, value: String)] = []
  private(set) var limitToFirst: String?
  private(set) var limitToLast: String?

  mutating func take(_ name: String, _ value: String) {
    switch name {
    case "orderBy": orderBy = value
    case "limitToFirst": limitToFirst = value
    case "limitToLast": limitToLast = value
    case "startAt", "startAfter", "endAt", "endBefore", "equalTo": bounds.append((name, value))
    default: break
    }
  }

  var isEmpty: Bool { orderBy == nil && limitToFirst == nil && limitToLast == nil && bounds.isEmpty }

  /// The query; nil if there is none. The texts are the hosted service's (Firebase's REST reference, error conditions).
  func parsed() throws(APIError) -> Query? {
    guard !isEmpty else { return nil }
    guard let orderBy else {
      throw .badRequest("orderBy must be defined when other query parameters are defined")
    }
    guard let name = (try? JSONParser.parse(orderBy))?.string else {
      throw .badRequest("orderBy must be a valid JSON encoded path")
    }
    let order: NodeOrder
    switch name {
    case "$key": order = .key
    case "$priority": order = .priority
    case "$value": order = .value
    default:
      guard let path = try? Path(parsing: name), !path.isRoot else {
        throw .badRequest("orderBy must be a valid JSON encoded path")
      }
      order = .child(path)
    }
    return try window(in: order)
  }

  private func window(in order: NodeOrder) throws(APIError) -> Query {
    var query = Query(order: order, limit: try limit())
    if bounds.count > 1, bounds.contains(where: { $0.name == "equalTo" }) {
      throw .badRequest("equalTo cannot be specified in addition to startAfter, startAt, endAt, or endBefore")
    }
    for bound in bounds {
      let (value, edge) = try Self.primitive(bound.value, in: order)
      if order == .key {
        guard let name = value?.stringValue else {
          throw .badRequest("Provided key index type is invalid, must be string")
        }
        Self.set(bound.name, in: &query) { _, isInclusive in
          QueryBound(value: nil, edge: QueryBound.Edge(name), isInclusive: isInclusive)
        }
      } else {
        Self.set(bound.name, in: &query) { isStart, isInclusive in
          if let edge { return QueryBound(value: value, edge: edge, isInclusive: isInclusive) }
          return isStart ? .start(value, isInclusive: isInclusive) : .end(value, isInclusive: isInclusive)
        }
      }
    }
    return query
  }

  private static func set(_ name: String, in query: inout Query, _ bound: (_ isStart: Bool, _ isInclusive: Bool) -> QueryBound)
  {
    switch name {
    case "startAt": query.start = bound(true, true)
    case "startAfter": query.start = bound(true, false)
    case "endAt": query.end = bound(false, true)
    case "endBefore": query.end = bound(false, false)
    default:
      query.start = bound(true, true)
      query.end = bound(false, true)
    }
  }

  /// A bound's value, and the key that JavaScript clients append: `5,"bob"`.
  private static func primitive(_ text: String, in order: NodeOrder) throws(APIError) -> (Scalar?, QueryBound.Edge?) {
    let error = APIError.badRequest("Constraint index field must be a JSON primitive")
    guard let parts = (try? JSONParser.parse("[\(text)]"))?.array, (1...2).contains(parts.count) else { throw error }
    let key = parts.count == 2 ? parts[1].string : nil
    if parts.count == 2, key == nil { throw error }
    switch parts[0] {
    case .null: return (nil, key.map(QueryBound.Edge.init))
    case .array, .object: throw error
    default: return (try? TreeNode(json: parts[0]).scalar, key.map(QueryBound.Edge.init))
    }
  }

  func limit() throws(APIError) -> Query.Limit? {
    if limitToFirst != nil, limitToLast != nil {
      throw .badRequest("Only one of limitToFirst and limitToLast may be specified")
    }
    if let limitToFirst { return .first(try Self.count(limitToFirst, name: "limitToFirst")) }
    if let limitToLast { return .last(try Self.count(limitToLast, name: "limitToLast")) }
    return nil
  }

  private static func count(_ text: String, name: String) throws(APIError) -> Int {
    guard let count = Int(text) else { throw .badRequest("\(name) must be an integer") }
    guard count > 0 else { throw .badRequest("\(name) must be positive") }
    return count
  }

  /// The window of a shallow read: key order, with `limitToFirst` and a raw, unquoted `startAfter`, as the command line
  /// tools send it; other filters do not go with `shallow`.
  func shallowWindow() throws(APIError) -> (after: Key?, limit: Int?) {
    let others = bounds.filter { $0.name != "startAfter" }
    guard orderBy == nil, limitToLast == nil, others.isEmpty else {
      throw .badRequest("shallow cannot be used with orderBy and filters; limitToFirst and startAfter (a raw key) are allowed.")
    }
    let limit = try limitToFirst.map { (text) throws(APIError) in try Self.count(text, name: "limitToFirst") }
    guard let text = bounds.last?.value else { return (nil, limit) }
    do {
      return (try Key(text), limit)
    } catch {
      throw .badRequest(error.description)
    }
  }
}
