import TreeModel

/// What the server is known to hold, as far as listens show it.
struct ServerCache {
  /// What is known, whole nodes and nothing else: below ``complete`` everything, elsewhere nothing.
  fileprivate(set) var tree: TreeNode = .absent
  /// The places whose nodes are known whole; none lies in another.
  private var complete = PlaceIndex<Path>()
  /// What is known of windows, by tag.
  fileprivate var windows: [Int: Window] = [:]

  fileprivate struct Window {
    let listened: ListenSpec
    var node: TreeNode
    var isComplete: Bool
  }

  /// The node at a place, if it is known whole.
  func node(at path: Path) -> TreeNode? {
    isComplete(path) ? tree[path] : nil
  }

  /// Whether the node at a place is known whole.
  func isComplete(_ path: Path) -> Bool { !complete.atOrAbove(path).isEmpty }

  /// What a window is listened to for; nil where there is no such window.
  func listened(_ tag: Int) -> ListenSpec? { windows[tag]?.listened }

  /// What is known of a window; nil before the server has sent all of it.
  func window(_ tag: Int) -> TreeNode? {
    windows[tag].flatMap { $0.isComplete ? $0.listened.query.result(of: $0.node) : nil }
  }

  /// What was sent of a window, at a place in it; nil where there is no such window.
  func raw(_ tag: Int, at path: Path) -> TreeNode? {
    guard let window = windows[tag], window.listened.path.contains(path) else { return nil }
    return window.node[path.relative(to: window.listened.path)]
  }

  /// Begins to keep a window, with what is known of it from elsewhere.
  mutating func open(_ tag: Int, for listened: ListenSpec, known: TreeNode?) {
    windows[tag] = Window(listened: listened, node: known ?? .absent, isComplete: known != nil)
  }

  mutating func close(_ tag: Int) { windows[tag] = nil }

  /// Replaces the node at a place; of a window, at a place in it.
  mutating func set(_ path: Path, to node: TreeNode, tag: Int?) {
    apply([TreeChange(path: path, value: .node(node))], tag: tag)
  }

  /// Makes changes in their order; of a window, at places in it.
  mutating func apply(_ changes: [TreeChange], tag: Int?) {
    var known = false
    guard let tag else {
      tree = tree.applying(changes, at: .root, known: &known)
      return
    }
    guard var window = windows[tag] else { return }
    let place = window.listened.path
    // Filtered when it is read: of one message's changes, the first may bring a child whose place a later one frees.
    window.node = window.node.applying(changes.filter { place.contains($0.path) }, at: place, known: &known)
    if known { window.isComplete = true }
    windows[tag] = window
  }

  /// Takes the place for known whole.
  mutating func markComplete(_ path: Path) {
    if isComplete(path) { return }
    for place in complete.atOrBelow(path) { complete.remove(place, at: place) }
    complete.insert(path, at: path)
  }

  mutating func markComplete(tag: Int) { windows[tag]?.isComplete = true }

  /// Lets go of everything at a place and below that none of these listens keeps up to date.
  mutating func keep(at path: Path, listened: PlaceIndex<ListenSpec>) {
    for place in complete.atOrBelow(path) where !listened.atOrAbove(place).contains(where: { !$0.isFiltered }) {
      let before = tree
      tree = tree.setting(place, to: .absent)
      complete.remove(place, at: place)
      for kept in listened.atOrBelow(place) where !kept.isFiltered {
        tree = tree.setting(kept.path, to: before[kept.path])
        complete.insert(kept.path, at: kept.path)
      }
    }
  }

  /// Replaces what is known of a place, in whole nodes and in windows; where nothing is known, nothing is then.
  mutating func overwrite(_ path: Path, to node: TreeNode) {
    for place in complete.touching(path) {
      if place.contains(path) { tree = tree.setting(path, to: node) }
      if path.contains(place), path != place {
        tree = tree.setting(place, to: node[place.relative(to: path)])
      }
    }
    for (tag, window) in windows where window.listened.path.contains(path) && window.listened.path != path {
      let below = path.relative(to: window.listened.path)
      windows[tag]?.node = window.node.setting(below, to: node)
    }
  }
}
