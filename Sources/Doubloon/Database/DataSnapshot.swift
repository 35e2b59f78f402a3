public import Foundation
import SyncModel
import TreeModel

/// A node as it was at one moment.
///
/// Its children are in the order of the query that it came from.
public final class DataSnapshot: Sendable {
  /// The place.
  public let ref: DatabaseReference
  let node: TreeNode
  let query: Query

  init(_ ref: DatabaseReference, _ node: TreeNode, query: Query = Query()) {
    self.ref = ref
    self.node = node
    self.query = query
  }

  /// The place's name; nil at the root.
  public var key: String? { ref.key }
  /// `NSNull` if nothing is there, else an `NSNumber`, a `String`, an array or a dictionary of such.
  public var value: Any? { NodeValue.value(of: node) }
  /// As ``value``, with priorities as `.priority` and `.value`, and never an array.
  public var valueInExportFormat: Any? { NodeValue.value(of: node, isExport: true) }
  /// An `NSNumber` or a `String`; nil where there is none.
  public var priority: Any? { node.priority.map(NodeValue.value(of:)) }
  /// Whether anything is there.
  public func exists() -> Bool { node.exists }
  /// Whether there are children.
  public func hasChildren() -> Bool { !node.children.isEmpty }
  /// How many children there are.
  public var childrenCount: UInt { UInt(node.children.count) }
  /// Whether anything is at a path below.
  public func hasChild(_ path: String) -> Bool { childSnapshot(forPath: path).exists() }

  /// The node at a path below; of an illegal path an empty one.
  public func childSnapshot(forPath path: String) -> DataSnapshot {
    let child = ref.child(path)
    guard let below = try? Path(parsing: path) else { return DataSnapshot(child, .absent) }
    return DataSnapshot(child, node[below])
  }

  /// The children, in the query's order.
  public var childSnapshots: [DataSnapshot] {
    Query(order: query.order).window(of: node).map { DataSnapshot(ref.child($0.key), $0.node) }
  }

  /// The children, in the query's order, for `for … in` and `allObjects`.
  public var children: NSEnumerator { NSArray(array: childSnapshots).objectEnumerator() }

  /// The text; nil if the value is none.
  public var string: String? { node.scalar?.stringValue }
  /// The integer; nil if the value is none.
  public var int: Int? { node.scalar?.intValue.flatMap { Int(exactly: $0) } }
  /// The number; nil if the value is none.
  public var double: Double? { node.scalar?.doubleValue }
  /// The truth value; nil if the value is none.
  public var bool: Bool? { if case .bool(let value) = node.scalar { value } else { nil } }
}

extension DataSnapshot: CustomStringConvertible {
  /// The place and the value, for people.
  public var description: String { "Snap (\(key ?? "/")) \(String(decoding: node.json(), as: UTF8.self))" }
}
