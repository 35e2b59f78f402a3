public import TreeModel

/// What `query` is in a `.read` rule: the window that a client asks for (Firebase, "Query-based rules").
public struct RuleQuery: Sendable, Hashable {
  enum Property: String, Sendable, CaseIterable {
    case orderByKey, orderByPriority, orderByValue, orderByChild, startAt, endAt, equalTo, limitToFirst, limitToLast

    var type: RuleType {
      switch self {
      case .orderByKey, .orderByPriority, .orderByValue: .bool
      case .orderByChild: [.string, .null]
      case .startAt, .endAt, .equalTo: [.null, .bool, .number, .string]
      case .limitToFirst, .limitToLast: [.number, .null]
      }
    }
  }

  private let order: NodeOrder
  private let start: Scalar?
  private let end: Scalar?
  private let equal: Scalar?
  private let limit: Query.Limit?

  /// The window of a read; nil for the whole node, which counts as ordered by key.
  public init(_ query: Query?) {
    order = query?.order ?? .key
    limit = query?.limit
    let bounds = (Self.value(query?.start, order), Self.value(query?.end, order))
    (start, end) = bounds
    // equalTo is a window that begins and ends with one value, the ends included.
    if let begin = query?.start, let finish = query?.end, begin.isInclusive, finish.isInclusive, bounds.0 == bounds.1 {
      equal = bounds.0
    } else {
      equal = nil
    }
  }

  private static func value(_ bound: QueryBound?, _ order: NodeOrder) -> Scalar? {
    guard let bound else { return nil }
    guard order == .key else { return bound.value }
    if case .key(let key) = bound.edge { return .string(key.text) }
    return nil
  }

  func value(of property: Property) -> RuleValue {
    switch property {
    case .orderByKey: return RuleValue(order == .key)
    case .orderByPriority: return RuleValue(order == .priority)
    case .orderByValue: return RuleValue(order == .value)
    case .orderByChild:
      guard case .child(let path) = order else { return .null }
      return .scalar(.string(path.keys.map(\.text).joined(separator: "/")))
    case .startAt: return RuleValue(start)
    case .endAt: return RuleValue(end)
    case .equalTo: return RuleValue(equal)
    case .limitToFirst:
      guard case .first(let count) = limit else { return .null }
      return .scalar(.int(Int64(count)))
    case .limitToLast:
      guard case .last(let count) = limit else { return .null }
      return .scalar(.int(Int64(count)))
    }
  }
}
