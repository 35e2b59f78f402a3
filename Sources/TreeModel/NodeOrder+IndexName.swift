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
