import TreeModel

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
