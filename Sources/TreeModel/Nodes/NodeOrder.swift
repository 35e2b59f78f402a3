/// An order of children (Firebase, "Retrieve Data: How query data is ordered"). Ties are broken by key, so every order is total.
public enum NodeOrder: Sendable, Hashable {
  /// By key: integers first, by value; then by UTF-16 code units.
  case key
  /// By the child's own value.
  case value
  /// By the value at a path below the child.
  case child(Path)
  /// By priority: none, numbers, strings. The default of listeners.
  case priority

  /// Whether `a` comes before `b`.
  public func precedes(_ a: TreeMap.Entry, _ b: TreeMap.Entry) -> Bool {
    if self == .key { return a.key < b.key }
    let x = rank(of: a.node)
    let y = rank(of: b.node)
    return x == y ? a.key < b.key : x < y
  }

  /// What a child is ordered by, its key aside; in key order all children are alike.
  func rank(of node: TreeNode) -> OrderRank {
    switch self {
    case .key: .null
    case .value: OrderRank(node)
    case .child(let path): OrderRank(node[path])
    case .priority: OrderRank(node.priority)
    }
  }
}

/// A place in the order of values: null < false < true < numbers < strings < maps. All maps are equal.
enum OrderRank: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case map

  init(_ scalar: Scalar?) {
    switch scalar {
    case nil: self = .null
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .number(Double(value))
    case .double(let value): self = .number(value)
    case .string(let value): self = .string(value)
    }
  }

  init(_ node: TreeNode) {
    if case .map = node.content { self = .map } else { self = OrderRank(node.scalar) }
  }

  private var kind: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .number: 2
    case .string: 3
    case .map: 4
    }
  }
}

extension OrderRank: Comparable {
  static func == (a: OrderRank, b: OrderRank) -> Bool {
    switch (a, b) {
    case (.null, .null), (.map, .map): true
    case (.bool(let x), .bool(let y)): x == y
    case (.number(let x), .number(let y)): x == y
    case (.string(let x), .string(let y)): x.hasSameBytes(as: y)
    default: false
    }
  }

  static func < (a: OrderRank, b: OrderRank) -> Bool {
    switch (a, b) {
    case (.bool(let x), .bool(let y)): !x && y
    case (.number(let x), .number(let y)): x < y
    case (.string(let x), .string(let y)): x.utf16Precedes(y)
    default: a.kind < b.kind
    }
  }
}

extension NodeOrder {
  /// Reads the name that rules and sockets give an order: `.key`, `.value`, `.priority`, or the path of a child.
  public init?(indexName name: String) {
    switch name {
    case ".priority": self = .priority
    case ".key": self = .key
    case ".value": self = .value
    default:
      guard let path = try? Path(parsing: name), !path.isRoot else { return nil }
      self = .child(path)
    }
  }

  /// The order's name in rules and on sockets.
  public var indexName: String {
    switch self {
    case .priority: ".priority"
    case .key: ".key"
    case .value: ".value"
    case .child(let path): path.keys.map(\.text).joined(separator: "/")
    }
  }
}
