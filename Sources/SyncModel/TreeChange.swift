package import TreeModel

/// A place and what it gets: a node, or the priority of the one that is there.
struct TreeChange: Sendable, Hashable {
  let path: Path
  let value: Value

  enum Value: Sendable, Hashable {
    case node(TreeNode)
    case priority(Scalar?)
  }

  var isNode: Bool {
    if case .node = value { true } else { false }
  }
}

extension Path {
  /// This path as it is from a place above it, or from itself.
  package func relative(to above: Path) -> Path { Path(keys: Array(keys[above.depth...])) }
}

extension TreeNode {
  /// The node as it stands at `path` after changes at any places, in their order.
  ///
  /// - `known`: whether all of the node is known before; changed to true by a change that replaces it whole.
  func applying(_ changes: [TreeChange], at path: Path, known: inout Bool) -> TreeNode {
    var (node, rest): (TreeNode, [TreeChange]) = (self, [])
    for change in changes {
      if case .node(let above) = change.value, change.path.contains(path) {
        (node, rest, known) = (above[path.relative(to: change.path)], [], true)
      } else if path.contains(change.path) {
        rest.append(change)
      }
    }
    return node.applying(rest, below: path.depth)
  }

  /// The node after changes at it and in it, in their order. However many children change, their map is built once: one by one,
  /// each would copy it.
  ///
  /// - `depth`: how many keys of the changes' paths lead to this node.
  private func applying(_ changes: [TreeChange], below depth: Int) -> TreeNode {
    var (node, priority): (TreeNode, Scalar??) = (self, nil)
    var below: [TreeModel.Key: [TreeChange]] = [:]
    for change in changes {
      if change.path.depth > depth {
        below[change.path.keys[depth], default: []].append(change)
        continue
      }
      switch change.value {
      case .node(let whole): (node, priority, below) = (whole, nil, [:])
      case .priority(let own): if node.exists || !below.isEmpty { priority = .some(own) }
      }
    }
    node = node.replacingChildren(below.map { TreeMap.Entry(key: $0, node: node[$0].applying($1, below: depth + 1)) })
    return priority.map { TreeNode(node.content, priority: $0) } ?? node
  }

  private func replacingChildren(_ changed: [TreeMap.Entry]) -> TreeNode {
    var children = self.children
    if changed.count > 8 {
      children = TreeMap(Array(children) + changed)
    } else {
      for entry in changed { children = children.setting(entry.key, to: entry.node) }
    }
    // Removals in a leaf leave it as it is.
    return children.isEmpty && scalar != nil ? self : .map(children, priority: priority)
  }
}
