/// What a request counts as in the metrics.
package enum RouteClass: Int, Sendable, CaseIterable {
  case treeRead
  case treeWrite
  case admin
  case operation
  /// Sign-in, and whatever else is about accounts.
  case account
  /// A link that is opened.
  case link
  /// No route, or no request: malformed, too large, too slow.
  case unknown

  /// The label in the metrics.
  package var label: String {
    switch self {
    case .treeRead: "tree_read"
    case .treeWrite: "tree_write"
    case .admin: "admin"
    case .operation: "operation"
    case .account: "account"
    case .link: "link"
    case .unknown: "unknown"
    }
  }
}
