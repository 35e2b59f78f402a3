/// A node of the tree as an immutable value: absent, a leaf, or a map of children; with an optional priority.
///
/// An absent node has no priority, and a map has at least one child: ``init(_:priority:)`` normalises, so that null, `{}`
/// and `{a:null}` are one value.
public struct TreeNode: Sendable, Hashable {
  /// What a node holds besides its priority.
  public enum Content: Sendable, Hashable {
    /// Nothing.
    case absent
    /// A value.
    case leaf(Scalar)
    /// At least one child.
    case map(TreeMap)
  }

  /// What the node holds.
  public let content: Content
  /// A number or a string; nil where there is none.
  public let priority: Scalar?

  /// No node.
  public static let absent = TreeNode(.absent)

  /// A node; an empty map becomes an absent node, and absence loses its priority.
  public init(_ content: Content, priority: Scalar? = nil) {
    switch content {
    case .absent:
      self.content = .absent
      self.priority = nil
    case .map(let map) where map.isEmpty:
      self.content = .absent
      self.priority = nil
    case .leaf, .map:
      self.content = content
      self.priority = priority
    }
  }

  /// A leaf.
  public static func leaf(_ scalar: Scalar, priority: Scalar? = nil) -> TreeNode {
    TreeNode(.leaf(scalar), priority: priority)
  }

  /// A map; absent if there are no children.
  public static func map(_ map: TreeMap, priority: Scalar? = nil) -> TreeNode {
    TreeNode(.map(map), priority: priority)
  }

  /// Whether there is a leaf or a map.
  public var exists: Bool {
    if case .absent = content { false } else { true }
  }

  /// The leaf's value; nil for maps and absent nodes.
  public var scalar: Scalar? {
    if case .leaf(let scalar) = content { scalar } else { nil }
  }

  /// The children; empty for leaves and absent nodes.
  public var children: TreeMap {
    if case .map(let map) = content { map } else { TreeMap() }
  }

  /// The child under a key; absent where there is none.
  public subscript(key: TreeModel.Key) -> TreeNode {
    if case .map(let map) = content { map[key] } else { .absent }
  }

  /// The node at a path below this one; absent below a leaf.
  public subscript(path: Path) -> TreeNode {
    var node = self
    for key in path.keys {
      node = node[key]
      if !node.exists { return .absent }
    }
    return node
  }

  /// How many leaves the node holds.
  public var leafCount: Int {
    switch content {
    case .absent: 0
    case .leaf: 1
    case .map(let map): map.reduce(0) { $0 + $1.node.leafCount }
    }
  }
}

extension TreeNode: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral
{
  /// A leaf written in the source.
  public init(booleanLiteral value: Bool) { self = .leaf(.bool(value)) }
  /// A leaf written in the source.
  public init(integerLiteral value: Int64) { self = .leaf(.int(value)) }
  /// A leaf written in the source.
  public init(floatLiteral value: Double) { self = .leaf(.number(value)) }
  /// A leaf written in the source.
  public init(stringLiteral value: String) { self = .leaf(.string(value)) }

  /// Children written in the source; an illegal or repeated key is a mistake of the programmer and traps.
  public init(dictionaryLiteral elements: (String, TreeNode)...) {
    let entries = elements.map { name, node in
      do {
        return TreeMap.Entry(key: try TreeModel.Key(name), node: node)
      } catch {
        preconditionFailure("\(error)")
      }
    }
    self = .map(TreeMap(entries))
  }
}

extension TreeNode {
  /// A copy in which the node at `path` is replaced, value and priority.
  ///
  /// Where a leaf is above the place it becomes a map and keeps its priority; maps that lose their last child vanish,
  /// and their priorities with them. Deleting what is absent changes nothing.
  public func setting(_ path: Path, to node: TreeNode) -> TreeNode {
    replacing(path.keys[...]) { _ in node }
  }

  /// A copy in which only the priority of the node at `path` is replaced; nil clears it.
  ///
  /// - Returns: nil if no node is there: absence has no priority, and the write must fail.
  public func settingPriority(_ path: Path, to priority: Scalar?) -> TreeNode? {
    guard self[path].exists else { return nil }
    return replacing(path.keys[...]) { TreeNode($0.content, priority: priority) }
  }

  private func replacing(_ keys: ArraySlice<TreeModel.Key>, change: (TreeNode) -> TreeNode) -> TreeNode {
    guard let key = keys.first else { return change(self) }
    let child = self[key].replacing(keys.dropFirst(), change: change)
    if !child.exists, !self[key].exists { return self }
    return .map(children.setting(key, to: child), priority: priority)
  }
}

extension TreeNode {
  /// The hash by which clients and server compare data: base64 of SHA-1 (firebase-js-sdk,
  /// `core/snap/ChildrenNode.ts` and `LeafNode.ts`).
  ///
  /// - Returns: 28 characters; the empty string for an absent node.
  public var dataHash: String {
    DataHash(variant: .exact).text(of: self)
  }

  /// Whether a client that holds this node may have computed `dataHash`.
  ///
  /// Some clients compute it differently for a few values; those results count as equal, for otherwise a transaction over
  /// such a value could never succeed.
  public func matches(dataHash: String) -> Bool {
    guard exists else { return dataHash.isEmpty }
    guard !dataHash.isEmpty else { return false }
    return DataHash.Variant.allCases.contains { DataHash(variant: $0).text(of: self) == dataHash }
  }
}
