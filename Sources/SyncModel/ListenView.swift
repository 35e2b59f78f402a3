import TreeModel

/// A window that somebody listens to.
struct ListenView {
  let listened: ListenSpec
  var listeners: [(id: ListenerID, kinds: Set<TreeEventKind>)] = []
  /// What the listeners were shown last.
  var shown = Shown()
  /// What the server had when that was last known: kept while one listen takes over from another.
  var lastServer: TreeNode?

  init(_ listened: ListenSpec) {
    self.listened = listened
  }
}
