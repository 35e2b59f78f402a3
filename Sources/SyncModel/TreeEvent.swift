package import TreeModel

/// What a listener can be told about.
package enum TreeEventKind: Sendable, Hashable, CaseIterable {
  /// A child left the window.
  case removed
  /// A child came into the window.
  case added
  /// A child stands somewhere else in the order.
  case moved
  /// A child's value is another.
  case changed
  /// The window as a whole is another.
  case value
}

/// One thing that a listener is told.
package struct TreeEvent: Sendable, Hashable {
  /// What happened.
  package let kind: TreeEventKind
  /// The child; nil for the value.
  package let key: Key?
  /// The child's value, for a removed one the last; of a value event the whole window.
  package let node: TreeNode
  /// The child before it in the order; nil for the first, for removed ones and for the value.
  package let previous: Key?

  /// An event.
  package init(_ kind: TreeEventKind, key: Key? = nil, node: TreeNode, previous: Key? = nil) {
    self.kind = kind
    self.key = key
    self.node = node
    self.previous = previous
  }
}

/// What a window shows.
struct Shown: Equatable {
  /// The window's children, or the whole node of a listener without bounds and limit.
  var node: TreeNode = .absent
  /// Whether all of it is known; before that only children are, that were written here.
  var isComplete = false
}

extension Query {
  /// The children of a window, in its order.
  func ordered(_ node: TreeNode) -> [TreeMap.Entry] {
    let children = node.children
    // Without priorities their order is that of keys, in which children are kept.
    if order == .key || (order == .priority && children.allSatisfy { $0.node.priority == nil }) { return Array(children) }
    return Query(order: order).window(of: node)
  }

  /// What a listener that begins now is told.
  func events(beginning shown: Shown) -> [TreeEvent] {
    events(from: Shown(), to: shown, of: Set(TreeEventKind.allCases), children: nil)
  }

  /// What tells one state of a window from the next: removed, added, moved and changed children, each kind in the window's
  /// order, then the value.
  ///
  /// - `kinds`: what anybody wants to be told of.
  /// - `keys`: the children that may be others, of a window in the order of keys; nil: all may, and the node's own value.
  func events(from old: Shown, to new: Shown, of kinds: Set<TreeEventKind>, children keys: Set<Key>?) -> [TreeEvent] {
    let isSame =
      keys.map { $0.allSatisfy { old.node[$0] == new.node[$0] } && old.node.exists == new.node.exists }
      ?? (old.node == new.node)
    if isSame, old.isComplete == new.isComplete { return [] }
    let wantsChildren = kinds.contains { $0 != .value }
    var events = isSame || !wantsChildren ? [] : childEvents(from: old.node, to: new.node, keys)
    if new.isComplete { events.append(TreeEvent(.value, node: new.node)) }
    return events
  }

  private func childEvents(from old: TreeNode, to new: TreeNode, _ keys: Set<Key>?) -> [TreeEvent] {
    let differences = keys.map { Differences(old.children, new.children, among: $0) } ?? Differences(old.children, new.children)
    if differences.isEmpty { return [] }
    var events: [TreeEvent] = []
    if !differences.removed.isEmpty {
      let gone = TreeNode.map(TreeMap(differences.removed))
      events += ordered(gone).map { TreeEvent(.removed, key: $0.key, node: $0.node) }
    }
    if differences.added.isEmpty, differences.changed.isEmpty { return events }
    var (added, moved, changed): ([TreeEvent], [TreeEvent], [TreeEvent]) = ([], [], [])
    func tell(_ entry: TreeMap.Entry, behind previous: Key?) {
      if differences.added.contains(entry.key) {
        added.append(TreeEvent(.added, key: entry.key, node: entry.node, previous: previous))
      } else if differences.changed.contains(entry.key) {
        let before = TreeMap.Entry(key: entry.key, node: old[entry.key])
        if order != .key, order.precedes(before, entry) || order.precedes(entry, before) {
          moved.append(TreeEvent(.moved, key: entry.key, node: entry.node, previous: previous))
        }
        changed.append(TreeEvent(.changed, key: entry.key, node: entry.node, previous: previous))
      }
    }
    if keys != nil {
      for key in differences.added.union(differences.changed).sorted() {
        tell(TreeMap.Entry(key: key, node: new[key]), behind: new.children.key(before: key))
      }
    } else {
      var previous: Key?
      for entry in ordered(new) {
        tell(entry, behind: previous)
        previous = entry.key
      }
    }
    return events + added + moved + changed
  }
}

/// Which children of two maps differ: one walk over both, in key order.
private struct Differences {
  var removed: [TreeMap.Entry] = []
  var added: Set<Key> = []
  var changed: Set<Key> = []

  var isEmpty: Bool { removed.isEmpty && added.isEmpty && changed.isEmpty }

  /// Looks at some children only.
  init(_ old: TreeMap, _ new: TreeMap, among keys: Set<Key>) {
    for key in keys.sorted() {
      let (before, after) = (old[key], new[key])
      if before.exists, !after.exists { removed.append(TreeMap.Entry(key: key, node: before)) }
      if !before.exists, after.exists { added.insert(key) }
      if before.exists, after.exists, before != after { changed.insert(key) }
    }
  }

  init(_ old: TreeMap, _ new: TreeMap) {
    var (i, j) = (old.startIndex, new.startIndex)
    while i < old.endIndex || j < new.endIndex {
      if i < old.endIndex, j < new.endIndex, old[i].key == new[j].key {
        if old[i].node != new[j].node { changed.insert(new[j].key) }
        i += 1
        j += 1
      } else if j == new.endIndex || (i < old.endIndex && old[i].key < new[j].key) {
        removed.append(old[i])
        i += 1
      } else {
        added.insert(new[j].key)
        j += 1
      }
    }
  }
}

extension TreeMap {
  /// The key before one, in the order of keys.
  func key(before key: Key) -> Key? {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low > startIndex ? self[low - 1].key : nil
  }

  /// The keys under which two maps differ.
  static func differences(from old: TreeMap, to new: TreeMap) -> Set<Key> {
    let differences = Differences(old, new)
    return differences.added.union(differences.changed).union(differences.removed.map(\.key))
  }
}
