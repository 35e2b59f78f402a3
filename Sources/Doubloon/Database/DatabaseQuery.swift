import SyncModel
import TreeModel

/// A place in the database and a window over its children.
///
/// `@unchecked Sendable`: nothing in it ever changes; it is open to subclassing within the library only.
public class DatabaseQuery: @unchecked Sendable {
  /// The database that it belongs to.
  public let database: Database
  /// The place and the window, or why there is none: every operation then fails with this error.
  let target: Result<ListenSpec, DatabaseError>

  /// Whether an order was chosen: there is only one.
  private let hasOrder: Bool

  init(_ database: Database, _ target: Result<ListenSpec, DatabaseError>, hasOrder: Bool = false) {
    self.database = database
    self.target = target
    self.hasOrder = hasOrder
  }

  /// The place, without the window.
  public final var ref: DatabaseReference {
    DatabaseReference(database, target.map(\.path))
  }

  /// The place as people write it; of an illegal one a question mark.
  final var placeText: String { (try? target.get())?.path.description ?? "?" }
}

// MARK: Orders and bounds

extension DatabaseQuery {
  /// In the order of the values at a path below each child.
  public final func queryOrdered(byChild key: String) -> DatabaseQuery {
    do {
      let path = try Path(parsing: key)
      return path.isRoot ? failing("queryOrdered(byChild:) needs a path below each child.") : ordered(.child(path))
    } catch {
      return failing(error.description)
    }
  }

  /// In the order of the keys.
  public final func queryOrderedByKey() -> DatabaseQuery { ordered(.key) }
  /// In the order of the children's own values.
  public final func queryOrderedByValue() -> DatabaseQuery { ordered(.value) }
  /// In the order of the priorities, as without any order.
  public final func queryOrderedByPriority() -> DatabaseQuery { ordered(.priority) }

  /// From the value on, and of the children with that value from the key on.
  public final func queryStarting(atValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(value, childKey, isStart: true, isInclusive: true)
  }

  /// From behind the value on, and of the children with that value from behind the key on.
  public final func queryStarting(afterValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(value, childKey, isStart: true, isInclusive: false)
  }

  /// Up to the value, and of the children with that value up to the key.
  public final func queryEnding(atValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(value, childKey, isStart: false, isInclusive: true)
  }

  /// Up to before the value, and of the children with that value up to before the key.
  public final func queryEnding(beforeValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    bounded(value, childKey, isStart: false, isInclusive: false)
  }

  /// The children with the value; with a key, that child if it has the value.
  public final func queryEqual(toValue value: Any?, childKey: String? = nil) -> DatabaseQuery {
    queryStarting(atValue: value, childKey: childKey).queryEnding(atValue: value, childKey: childKey)
  }

  /// The first children in the order.
  public final func queryLimited(toFirst limit: UInt) -> DatabaseQuery { limited(limit) { .first($0) } }
  /// The last children in the order.
  public final func queryLimited(toLast limit: UInt) -> DatabaseQuery { limited(limit) { .last($0) } }

  private func failing(_ reason: String) -> DatabaseQuery {
    changed { _ throws(DatabaseError) in throw .invalidQuery(reason: reason) }
  }

  private func changed(_ change: (inout Query) throws(DatabaseError) -> Void) -> DatabaseQuery {
    let result = target.flatMap { listened -> Result<ListenSpec, DatabaseError> in
      var query = listened.query
      do throws(DatabaseError) {
        try change(&query)
      } catch {
        return .failure(error)
      }
      return .success(ListenSpec(path: listened.path, query: query))
    }
    return DatabaseQuery(database, result, hasOrder: hasOrder)
  }

  private func ordered(_ order: NodeOrder) -> DatabaseQuery {
    if hasOrder { return failing("A query has one order: call queryOrdered… once.") }
    let query = changed { query throws(DatabaseError) in
      if query.start != nil || query.end != nil { throw .invalidQuery(reason: "Give the order before the bounds.") }
      query.order = order
    }
    return DatabaseQuery(database, query.target, hasOrder: true)
  }

  private func bounded(_ value: Any?, _ key: String?, isStart: Bool, isInclusive: Bool) -> DatabaseQuery {
    changed { query throws(DatabaseError) in
      if isStart ? query.start != nil : query.end != nil {
        throw .invalidQuery(reason: "A query has one start and one end; queryEqual is both.")
      }
      let bound = try Self.bound(value, key, in: query.order, isStart: isStart, isInclusive: isInclusive)
      if isStart { query.start = bound } else { query.end = bound }
    }
  }

  private static func bound(
    _ value: Any?, _ key: String?, in order: NodeOrder, isStart: Bool, isInclusive: Bool
  ) throws(DatabaseError) -> QueryBound {
    let node = try NodeValue.node(of: value, depth: 0)
    guard node.slots.isEmpty, node.node.children.isEmpty else {
      throw .invalidQuery(reason: "A bound is a string, a number, a boolean or nil.")
    }
    if order == .key {
      guard let name = node.node.scalar?.stringValue, key == nil, let key = try? Key(name) else {
        throw .invalidQuery(reason: "In the order of the keys a bound is a key, as a string, and has no childKey.")
      }
      return .key(key, isInclusive: isInclusive)
    }
    if order == .priority, case .bool = node.node.scalar {
      throw .invalidQuery(reason: "In the order of the priorities a bound is a string, a number or nil.")
    }
    let child = try key.map { name throws(DatabaseError) in try DatabaseReference.key(name) }
    return isStart
      ? .start(node.node.scalar, key: child, isInclusive: isInclusive)
      : .end(node.node.scalar, key: child, isInclusive: isInclusive)
  }

  private func limited(_ limit: UInt, _ make: (Int) -> Query.Limit) -> DatabaseQuery {
    changed { query throws(DatabaseError) in
      guard limit > 0, limit < 1 << 31 else { throw .invalidQuery(reason: "A limit is a number from 1 to 2147483647.") }
      guard query.limit == nil else { throw .invalidQuery(reason: "A query has one limit.") }
      query.limit = make(Int(limit))
    }
  }
}
