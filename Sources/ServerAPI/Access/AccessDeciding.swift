public import TreeModel

/// Who may do what at the door: the seam that security rules fill.
///
/// Writes are judged here only as far as the caller alone decides; what depends on the data is judged on the writer.
public protocol AccessDeciding: Sendable {
  /// Whether the caller may read the node.
  func mayRead(_ path: Path, in namespace: String, as caller: Caller) -> Bool
  /// Whether the caller may send writes for the node.
  func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool
  /// Whether namespaces come into being when they are first written to.
  var createsNamespaces: Bool { get }
  /// Whether the tools of development are there: deleting namespaces, moving the clock, suppressing triggers.
  var isDevelopment: Bool { get }
}
