import StorageCore
import TreeModel

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
  func message(for view: CommitView, changes range: Range<Int>, format: TreeFormat) throws(ListenFault) -> ListenMessage? {
    guard case .live(let since) = state, view.revision > since else { return nil }
    let touched = try apply(view, range)
    var parts: [CommitView.Part] = []
    if hasLimit, ranked.count < limit, !isComplete {
      try refill(view, touched, format, &parts)
    } else {
      for child in touched { try show(child, isShown(child), view, format, &parts) }
      if hasLimit { try showBoundary(around: touched, view, &parts) }
      trim()
    }
    return view.message(parts, format: format)
  }

  /// Puts the children that were touched where they now belong.
  private func apply(_ view: CommitView, _ range: Range<Int>) throws(ListenFault) -> [Touched] {
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
      if let place = try place(of: key, at: child, view) { insert(place, wasShown: wasShown) }
      touched.append(Touched(key: key, path: child, changes: part, wasShown: wasShown))
      at = part.upperBound
    }
    return touched
  }

  /// - Returns: whether clients have the child.
  private func remove(_ key: Key) -> Bool {
    guard let place = places.removeValue(forKey: key) else { return false }
    guard hasLimit else { return true }
    return ranked.remove(at: index(of: place)).isShown
  }

  private func insert(_ place: QueryPlace, wasShown: Bool) {
    guard hasLimit else {
      places[place.key] = place
      return
    }
    let index = index(of: place)
    // Behind the last one that is known there may be others before it.
    guard index < ranked.count || isComplete else { return }
    places[place.key] = place
    ranked.insert(Child(place: place, isShown: wasShown), at: index)
  }

  private func place(of key: Key, at child: PathBytes, _ view: CommitView) throws(ListenFault) -> QueryPlace? {
    if let node = try view.coveredNode(at: child) { return query.place(of: key, in: node) }
    let outline = try view.reader.outline(at: child)
    guard outline.exists else { return nil }
    switch query.order {
    case .key, .value: return query.place(of: key, orderedBy: outline)
    case .priority: return query.place(of: key, orderedBy: try view.reader.priority(at: child))
    case .child(let path):
      let place = path.keys.reduce(child) { $0.child($1) }
      return query.place(of: key, orderedBy: try view.reader.outline(at: place))
    }
  }

  private func isShown(_ child: Touched) -> Bool {
    guard let place = places[child.key] else { return false }
    guard hasLimit else { return true }
    let index = index(of: place)
    ranked[index].isShown = index < limit
    return ranked[index].isShown
  }

  private func show(
    _ child: Touched, _ isShown: Bool, _ view: CommitView, _ format: TreeFormat, _ parts: inout [CommitView.Part]
  ) throws(ListenFault) {
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

  /// Those that nobody touched, and that others pushed over the limit or made room for: they stand close to it.
  private func showBoundary(around touched: [Touched], _ view: CommitView, _ parts: inout [CommitView.Part])
    throws(ListenFault)
  {
    let near = touched.count
    let lower = max(0, limit - near)
    let upper = min(ranked.count, limit + near)
    guard lower < upper else { return }
    for index in lower..<upper where ranked[index].isShown != (index < limit) {
      ranked[index].isShown.toggle()
      let key = ranked[index].place.key
      let node = index < limit ? try view.node(at: path.child(key)) : .absent
      parts.append(CommitView.Part(path: key.text, node: node))
    }
  }

  /// The reserve is used up: the first children are searched in the store.
  private func refill(
    _ view: CommitView, _ touched: [Touched], _ format: TreeFormat, _ parts: inout [CommitView.Part]
  ) throws(ListenFault) {
    let wanted = limit + reserve
    let node = try view.reader.children(of: path, first: wanted + 1, in: query)
    let all = query.places(in: node)
    let shown = Set(ranked.lazy.filter(\.isShown).map(\.place.key))
    set(Array(all.prefix(wanted)), isComplete: all.count <= wanted)
    let touchedKeys = Set(touched.map(\.key))
    for index in ranked.indices {
      let key = ranked[index].place.key
      ranked[index].isShown = index < limit
      guard !touchedKeys.contains(key), ranked[index].isShown != shown.contains(key) else { continue }
      parts.append(CommitView.Part(path: key.text, node: ranked[index].isShown ? node[key] : .absent))
    }
    for child in touched { try show(child, isShown(child), view, format, &parts) }
  }

  /// Forgets what lies far behind the limit.
  private func trim() {
    guard hasLimit, ranked.count > limit, ranked.count - limit > 2 * reserve else { return }
    let kept = limit + reserve
    for child in ranked[kept...] { places[child.place.key] = nil }
    ranked.removeLast(ranked.count - kept)
    isComplete = false
  }
}
