extension Query {
  /// Reads the query object of the socket protocol (firebase-js-sdk,
  /// `core/view/QueryParams.ts`).
  ///
  /// - Parameter wire: `i` index; `sp`, `sn`, `sin` start; `ep`, `en`, `ein` end; `l`, `vf` limit. All may be missing.
  /// - Throws: ``QueryError`` if a member is not legal; unknown members are ignored.
  public init(wire: JSON) throws(QueryError) {
    guard wire.object != nil else { throw QueryError(.notAnObject) }
    let order = try Self.order(wire["i"])
    let start = try Self.bound(wire, order: order, names: ("sp", "sn", "sin"), open: .min)
    let end = try Self.bound(wire, order: order, names: ("ep", "en", "ein"), open: .max)
    self.init(order: order, start: start, end: end)
    limit = try limit(wire)
  }

  private static func order(_ index: JSON?) throws(QueryError) -> NodeOrder {
    guard let index else { return .priority }
    guard let order = index.string.flatMap(NodeOrder.init(indexName:)) else { throw QueryError(.illegalIndex) }
    return order
  }

  private static func bound(
    _ wire: JSON, order: NodeOrder, names: (value: String, key: String, inclusive: String), open: QueryBound.Edge
  ) throws(QueryError) -> QueryBound? {
    guard let value = wire[names.value] else { return nil }
    let isInclusive = wire[names.inclusive]?.bool ?? true
    if order == .key {
      guard let key = value.string else { throw QueryError(.illegalKeyBound) }
      return QueryBound(value: nil, edge: QueryBound.Edge(key), isInclusive: isInclusive)
    }
    var edge = open
    if let name = wire[names.key] {
      guard let key = name.string else { throw QueryError(.illegalBound) }
      edge = QueryBound.Edge(key)
    }
    return QueryBound(value: try scalar(value), edge: edge, isInclusive: isInclusive)
  }

  private static func scalar(_ json: JSON) throws(QueryError) -> Scalar? {
    switch json {
    case .null: return nil
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .double(let value): return .number(value)
    case .string(let value): return .string(value)
    case .array, .object: throw QueryError(.illegalBound)
    }
  }

  private func limit(_ wire: JSON) throws(QueryError) -> Limit? {
    guard let count = wire["l"] else { return nil }
    guard let count = count.int.flatMap(Int.init(exactly:)), count > 0 else { throw QueryError(.illegalLimit) }
    // Clients that do not say mean the side of the start, and the last children where there is no start.
    switch wire["vf"]?.string ?? (start == nil ? "r" : "l") {
    case "l": return .first(count)
    case "r": return .last(count)
    default: throw QueryError(.illegalLimit)
    }
  }

  /// The query object of the socket protocol; `{}` for the default query.
  public var wire: JSON {
    var members: [JSON.Member] = []
    if order != .priority { members.append(JSON.Member(key: "i", value: .string(order.indexName))) }
    if let start { append(start, names: ("sp", "sn", "sin"), open: .min, to: &members) }
    if let end { append(end, names: ("ep", "en", "ein"), open: .max, to: &members) }
    switch limit {
    case nil: break
    case .first(let count): members += [.init(key: "l", value: .int(Int64(count))), .init(key: "vf", value: "l")]
    case .last(let count): members += [.init(key: "l", value: .int(Int64(count))), .init(key: "vf", value: "r")]
    }
    return .object(members)
  }

  private func append(
    _ bound: QueryBound, names: (value: String, key: String, inclusive: String), open: QueryBound.Edge,
    to members: inout [JSON.Member]
  ) {
    if order == .key {
      members.append(JSON.Member(key: names.value, value: .string(bound.edge.name)))
    } else {
      members.append(JSON.Member(key: names.value, value: bound.value?.json ?? .null))
      if bound.edge != open { members.append(JSON.Member(key: names.key, value: .string(bound.edge.name))) }
    }
    if !bound.isInclusive { members.append(JSON.Member(key: names.inclusive, value: false)) }
  }
}
