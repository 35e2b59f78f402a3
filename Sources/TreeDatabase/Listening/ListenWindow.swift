import DequeModule
import StorageCore
import TreeModel

/// A query's window over a node's children, kept from commit to commit. Used on the hub's thread.
///
/// It holds the positions of children, not the children. A window with a limit also remembers a reserve, the children that
/// follow. ``ranked`` always holds the first of all children within the bounds, so when one leaves, the next is known, and the
/// store is searched only when the reserve is used up.
final class ListenWindow {
  /// A commit that waits for the window to be filled.
  typealias Pending = (commit: CommittedRequest, changes: Range<Int>)

  enum State {
    case loading
    /// It is as of this revision, or as of any later one that it was told of.
    case live(Revision)
  }

  struct Child {
    let position: QueryPosition
    /// Whether clients have it.
    var isShown: Bool
  }

  let query: Query
  let path: PathBytes
  let limits: ListenLimits
  let limit: Int
  private(set) var state = State.loading
  /// Counts how often it had to be filled: what was read for an earlier filling does not count.
  private(set) var generation = 0
  private(set) var pending = Deque<Pending>()
  /// Of the commits that waited, those up to this revision were dropped.
  private(set) var droppedThrough = Revision.zero

  /// The children by name.
  var positions: [Key: QueryPosition] = [:]
  /// The same, in the window's direction; empty for a window without a limit, which needs no order.
  var ranked: [Child] = []
  /// Whether there are no children within the bounds but these.
  var isComplete = true

  init(query: Query, path: PathBytes, limits: ListenLimits) {
    self.query = query
    self.path = path
    self.limits = limits
    limit =
      switch query.limit {
      case nil: .max
      // No node has so many children, and the sum with the reserve does not overflow.
      case .first(let count), .last(let count): count < .max / 4 ? max(0, count) : .max
      }
  }

  var hasLimit: Bool { limit < .max }
  var isLive: Bool { if case .live = state { true } else { false } }

  /// Whether so many changes cost more, one by one in a long order, than reading the window again.
  func isCheaperToRead(than changes: Int) -> Bool { hasLimit && changes > 1000 && ranked.count > 4096 }

  /// How many children are remembered beyond the limit.
  var reserve: Int { min(max(limit, 16), limits.reserveMax) }

  /// How many children to read when it is filled; nil for all.
  static func wanted(_ query: Query, limits: ListenLimits) -> Int? {
    let window = ListenWindow(query: query, path: .root, limits: limits)
    return window.hasLimit ? window.limit + window.reserve : nil
  }

  /// Starts again: something was missed.
  func reset() {
    generation += 1
    state = .loading
    pending = []
    droppedThrough = .zero
    positions = [:]
    ranked = []
  }

  /// A commit that comes before the window is filled.
  func hold(_ commit: CommittedRequest, changes: Range<Int>) {
    if pending.count >= limits.heldMessagesMax { droppedThrough = pending.removeFirst().commit.receipt.revision }
    pending.append((commit, changes))
  }

  /// - Returns: the commits that waited and came after what was read; nil if something is missing in between.
  func fill(_ result: LoadResult.Window) -> [Pending]? {
    guard result.revision >= droppedThrough else { return nil }
    set(result.children, isComplete: result.isComplete)
    for index in ranked.indices { ranked[index].isShown = index < limit }
    state = .live(result.revision)
    let waiting = pending.filter { $0.commit.receipt.revision > result.revision }
    pending = []
    return Array(waiting)
  }

  func set(_ children: [QueryPosition], isComplete: Bool) {
    positions = Dictionary(uniqueKeysWithValues: children.map { ($0.key, $0) })
    ranked = hasLimit ? children.map { Child(position: $0, isShown: false) } : []
    self.isComplete = isComplete
  }

  /// Where a child is in the order, or would.
  func index(of position: QueryPosition) -> Int {
    var (low, high) = (0, ranked.count)
    while low < high {
      let middle = (low + high) / 2
      if query.leads(ranked[middle].position, position) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension ListenWindow {
  /// A child that a commit touched.
  private struct Touched {
    let key: Key
    let path: PathBytes
    let changes: Range<Int>
    let wasShown: Bool
  }

  /// What a commit changes in the window, in one message; nil if nothing.
  ///
  /// A child that enters is sent whole, one that leaves as null; of one that stays, what was written below it.
  func message(for view: CommitView, changes range: Range<Int>, format: TreeFormat) throws(ListenError) -> ListenMessage? {
    guard case .live(let since) = state, view.revision > since else { return nil }
    let touched = try apply(view, range: range)
    var parts: [CommitView.Part] = []
    if hasLimit, ranked.count < limit, !isComplete {
      try refill(view, touched: touched, format: format, parts: &parts)
    } else {
      for child in touched { try show(child, isShown: isShown(child), view: view, format: format, parts: &parts) }
      if hasLimit { try showBoundary(around: touched, view: view, parts: &parts) }
      trim()
    }
    return view.message(parts, format: format)
  }

  /// Puts the children that were touched where they now belong.
  private func apply(_ view: CommitView, range: Range<Int>) throws(ListenError) -> [Touched] {
    var touched: [Touched] = []
    var at = range.lowerBound
    while at < range.upperBound {
      let changed = view.changes[at].path
      guard let (key, end) = changed.key(at: path.bytes.count), changed.segmentEnd(at: path.bytes.count) != nil else {
        // The node's own value or priority: a query sees neither.
        at += 1
        continue
      }
      let child = PathBytes(bytes: Array(changed.bytes[..<end]))
      let part = view.changes.range(under: child, in: at..<range.upperBound)
      let wasShown = remove(key)
      if let position = try position(of: key, at: child, view: view) { insert(position, wasShown: wasShown) }
      touched.append(Touched(key: key, path: child, changes: part, wasShown: wasShown))
      at = part.upperBound
    }
    return touched
  }

  /// - Returns: whether clients have the child.
  private func remove(_ key: Key) -> Bool {
    guard let position = positions.removeValue(forKey: key) else { return false }
    guard hasLimit else { return true }
    return ranked.remove(at: index(of: position)).isShown
  }

  private func insert(_ position: QueryPosition, wasShown: Bool) {
    guard hasLimit else {
      positions[position.key] = position
      return
    }
    let index = index(of: position)
    // Behind the last one that is known there may be others before it.
    guard index < ranked.count || isComplete else { return }
    positions[position.key] = position
    ranked.insert(Child(position: position, isShown: wasShown), at: index)
  }

  private func position(of key: Key, at child: PathBytes, view: CommitView) throws(ListenError) -> QueryPosition? {
    if let node = try view.coveredNode(at: child) { return query.position(of: key, in: node) }
    let outline = try view.reader.outline(at: child)
    guard outline.exists else { return nil }
    switch query.order {
    case .key, .value: return query.position(of: key, orderedBy: outline)
    case .priority: return query.position(of: key, orderedBy: try view.reader.priority(at: child))
    case .child(let path):
      let ordering = path.keys.reduce(child) { $0.child($1) }
      return query.position(of: key, orderedBy: try view.reader.outline(at: ordering))
    }
  }

  private func isShown(_ child: Touched) -> Bool {
    guard let position = positions[child.key] else { return false }
    guard hasLimit else { return true }
    let index = index(of: position)
    ranked[index].isShown = index < limit
    return ranked[index].isShown
  }

  private func show(
    _ child: Touched, isShown: Bool, view: CommitView, format: TreeFormat, parts: inout [CommitView.Part]
  ) throws(ListenError) {
    switch (child.wasShown, isShown) {
    case (false, false): return
    case (true, false): parts.append(CommitView.Part(path: child.key.text, node: .absent))
    case (false, true): parts.append(CommitView.Part(path: child.key.text, node: try view.node(at: child.path)))
    case (true, true):
      if format == .plain, view.onlyPriorities(child.changes) { return }
      if let node = try view.coveredNode(at: child.path) {
        parts.append(CommitView.Part(path: child.key.text, node: node))
      } else {
        parts += try view.parts(under: child.path, after: path.bytes.count, format: format)
      }
    }
  }

  /// Children that were not touched but pushed across the limit by others: their positions are close to it.
  private func showBoundary(around touched: [Touched], view: CommitView, parts: inout [CommitView.Part])
    throws(ListenError)
  {
    let near = touched.count
    let lower = max(0, limit - near)
    let upper = min(ranked.count, limit + near)
    guard lower < upper else { return }
    for index in lower..<upper where ranked[index].isShown != (index < limit) {
      ranked[index].isShown.toggle()
      let key = ranked[index].position.key
      let node = index < limit ? try view.node(at: path.child(key)) : .absent
      parts.append(CommitView.Part(path: key.text, node: node))
    }
  }

  /// The reserve is used up: the first children are searched in the store.
  private func refill(
    _ view: CommitView, touched: [Touched], format: TreeFormat, parts: inout [CommitView.Part]
  ) throws(ListenError) {
    let wanted = limit + reserve
    let node = try view.reader.children(of: path, first: wanted + 1, in: query)
    let all = query.positions(in: node)
    let shown = Set(ranked.lazy.filter(\.isShown).map(\.position.key))
    set(Array(all.prefix(wanted)), isComplete: all.count <= wanted)
    let touchedKeys = Set(touched.map(\.key))
    for index in ranked.indices {
      let key = ranked[index].position.key
      ranked[index].isShown = index < limit
      guard !touchedKeys.contains(key), ranked[index].isShown != shown.contains(key) else { continue }
      parts.append(CommitView.Part(path: key.text, node: ranked[index].isShown ? node[key] : .absent))
    }
    for child in touched { try show(child, isShown: isShown(child), view: view, format: format, parts: &parts) }
  }

  /// Drops positions far behind the limit.
  private func trim() {
    guard hasLimit, ranked.count > limit, ranked.count - limit > 2 * reserve else { return }
    let kept = limit + reserve
    for child in ranked[kept...] { positions[child.position.key] = nil }
    ranked.removeLast(ranked.count - kept)
    isComplete = false
  }
}
