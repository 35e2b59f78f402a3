import TreeModel

extension ClientTree {
  /// Shows what changed at these places to those who listen there, above and below.
  mutating func show(changed paths: [Path]) {
    for (listened, touching) in touched(by: paths) {
      guard var view = views[listened] else { continue }
      looks += 1
      let (new, keys) = refresh(&view, changed: touching)
      defer { views[listened] = view }
      // What was known by a write alone stays until the server's data comes: nobody is shown that less is known.
      if view.shown.isComplete, !new.isComplete { continue }
      let kinds = view.listeners.reduce(into: Set<TreeEventKind>()) { $0.formUnion($1.kinds) }
      let isByKey = listened.query.order == .key || (listened.query.order == .priority && !view.hasPriorities)
      let events = listened.query.events(from: view.shown, to: new, of: kinds, children: isByKey ? keys : nil)
      view.shown = new
      for event in events {
        for listener in view.listeners where listener.kinds.contains(event.kind) {
          effects.append(.event(listener.id, event))
        }
      }
    }
  }

  /// The views at these places, above and below, each with those of the places that touch it.
  private func touched(by paths: [Path]) -> [(listened: ListenSpec, paths: [Path])] {
    if paths.count == 1 { return viewPlaces.touching(paths[0]).map { ($0, paths) } }
    var order: [ListenSpec] = []
    var touching: [ListenSpec: [Path]] = [:]
    for path in paths {
      for listened in viewPlaces.touching(path) {
        if touching[listened] == nil { order.append(listened) }
        touching[listened, default: []].append(path)
      }
    }
    return order.map { ($0, touching[$0] ?? []) }
  }

  /// Places that are looked at one by one: each copies the children around it, so of more the whole view is made once.
  private static let pathsMax = 64

  /// Brings a view's overlay up to date, by as little work as the changes need.
  ///
  /// - `paths`: what changed at the view's place, above and below.
  /// - Returns: what the view shows now, and its children that may be others than before; nil: all may.
  func refresh(_ view: inout ListenView, changed paths: [Path]) -> (shown: Shown, children: Set<Key>?) {
    let listened = view.listened
    let depth = listened.path.depth
    let old = view.lastServer
    let server = serverNode(listened) ?? old
    view.lastServer = server
    var known = server != nil
    guard view.isOverlaid, (old == nil) == (server == nil), paths.count <= Self.pathsMax,
      paths.allSatisfy({ $0.depth > depth }), keepsShape(view, at: .root, server)
    else {
      view.overlay = writes.shown(server ?? .absent, at: listened.path, known: &known)
      (view.isOverlaid, view.isComplete) = (true, known)
      view.hasPriorities = view.overlay.children.contains { $0.node.priority != nil }
      if listened.isFiltered || !known { view.overlay = determined(view.overlay, server: server, in: listened) }
      return (Shown(node: listened.shown(of: view.overlay), isComplete: known), nil)
    }
    var keys = Set(paths.map { $0.keys[depth] })
    if listened.isFiltered || !view.isComplete {
      // A window lets children in and out for others' sake.
      keys.formUnion(TreeMap.differences(from: old?.children ?? TreeMap(), to: server?.children ?? TreeMap()))
      for key in keys { overlay(&view, at: Path(keys: [key]), server) }
    } else if let server, !writes.touch(listened.path) {
      // Nothing is written here: the server's node is the view's, and its children are held once.
      view.overlay = server
    } else {
      for path in paths { overlay(&view, below: Array(path.keys[depth...]), server) }
    }
    view.hasPriorities = view.hasPriorities || keys.contains { view.overlay[$0].priority != nil }
    return (Shown(node: listened.shown(of: view.overlay), isComplete: view.isComplete), listened.isFiltered ? nil : keys)
  }

  /// Whether a node of the overlay stays the map that it is, whatever becomes of its children: neither the server nor a write has a
  /// leaf there, or a priority of its own, that could come to light.
  private func keepsShape(_ view: ListenView, at below: Path, _ server: TreeNode?) -> Bool {
    let (shown, known) = (view.overlay[below], server?[below] ?? .absent)
    return shown.exists && shown.scalar == nil && known.scalar == nil && shown.priority == known.priority
      && !writes.sets(view.listened.path.appending(below))
  }

  /// Brings the overlay up to date at a place below, or as far above it as more than the place may change.
  private func overlay(_ view: inout ListenView, below keys: [Key], _ server: TreeNode?) {
    let depth = (1..<keys.count).first { !keepsShape(view, at: Path(keys: Array(keys[..<$0])), server) } ?? keys.count
    overlay(&view, at: Path(keys: Array(keys[..<depth])), server)
  }

  private func overlay(_ view: inout ListenView, at below: Path, _ server: TreeNode?) {
    let place = view.listened.path.appending(below)
    var known = true
    var node = writes.shown(server?[below] ?? .absent, at: place, known: &known)
    if view.listened.isFiltered || !view.isComplete, !isDetermined(place, server: server?[below] ?? .absent) { node = .absent }
    view.overlay = view.overlay.setting(below, to: node)
  }

  /// The window as it stands here.
  func current(_ listened: ListenSpec) -> Shown {
    var view = ListenView(listened)
    return refresh(&view, changed: [listened.path]).shown
  }

  /// What the server has, if it is known whole.
  func serverNode(_ listened: ListenSpec) -> TreeNode? {
    if listened.isLocal { return local[listened.path] }
    if listened.isFiltered, let tag = wires[listened]?.listen.tag { return cache.window(tag) }
    return cache.node(at: listened.path)
  }

  /// The node without the children of which only a part is known, because they were written here and the server did not
  /// show them.
  private func determined(_ node: TreeNode, server: TreeNode?, in listened: ListenSpec) -> TreeNode {
    let kept = node.children.filter { isDetermined(listened.path.child($0.key), server: server?[$0.key] ?? .absent) }
    return kept.count == node.children.count ? node : .map(TreeMap(kept), priority: node.priority)
  }

  private func isDetermined(_ place: Path, server: TreeNode) -> Bool {
    server.exists || cache.isComplete(place) || writes.sets(place)
  }
}

/// A window that somebody listens to.
struct ListenView {
  let listened: ListenSpec
  var listeners: [(id: ListenerID, kinds: Set<TreeEventKind>)] = []
  /// What the server has under the pending writes, of windows and where not all is known without children of which only a part is.
  var overlay = TreeNode.absent
  /// Whether there is an overlay yet.
  var isOverlaid = false
  /// Whether all of the overlay is known.
  var isComplete = false
  /// Whether a child of the overlay has, or had, a priority: without, the order of priorities is that of keys.
  var hasPriorities = false
  /// What the listeners were shown last.
  var shown = Shown()
  /// What the server had when that was last known: kept while one listen takes over from another.
  var lastServer: TreeNode?

  init(_ listened: ListenSpec) {
    self.listened = listened
  }
}
