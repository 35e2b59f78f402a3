import TreeModel

/// The writes that wait for an answer, by their numbers and by the places that they touch. What one place needs costs nothing for
/// writes elsewhere, nor for those that a later one has covered.
struct PendingWrites: Sendable {
  private var writes: [WriteID: Entry] = [:]
  private var all = WriteIndex()
  /// Those that listeners see.
  private var visible = WriteIndex()

  /// All of them, in the order of the calls.
  var inOrder: [PendingWrite] { writes.values.map(\.write).sorted { $0.id < $1.id } }

  private struct Entry: Sendable {
    let write: PendingWrite
    /// Of a write of many places, the indices of its estimates by place.
    let places: PlaceIndex<Int>?

    init(_ write: PendingWrite) {
      self.write = write
      if write.estimates.count <= 8 {
        places = nil
      } else {
        places = write.estimates.indices.reduce(into: PlaceIndex<Int>()) { $0.insert($1, at: write.estimates[$1].path) }
      }
    }

    /// What the write is thought to do at a place, above and below, in its order; other estimates may be among it.
    func estimates(touching path: Path) -> [TreeChange] {
      guard let places else { return write.estimates }
      return places.touching(path).sorted().map { write.estimates[$0] }
    }
  }

  mutating func append(_ write: PendingWrite) {
    writes[write.id] = Entry(write)
    all.insert(write)
    if write.isVisible { visible.insert(write) }
  }

  mutating func remove(_ id: WriteID) -> PendingWrite? {
    guard let write = writes.removeValue(forKey: id)?.write else { return nil }
    all.remove(write)
    if write.isVisible { visible.remove(write) }
    return write
  }

  /// Whether a visible write sets the place, or one above it.
  func sets(_ path: Path) -> Bool { visible.cover(path, before: nil) != nil }

  /// Whether a visible write is at the place, above or below.
  func touch(_ path: Path) -> Bool { visible.touch(path) }

  /// The node at a place as it stands after the visible writes.
  ///
  /// - `known`: whether all of the node is known before; changed to true by a write that replaces it whole.
  func shown(_ node: TreeNode, at path: Path, known: inout Bool) -> TreeNode {
    let deciding = visible.deciding(path, before: nil)
    if deciding.count > 8, let node = childByChild(node, at: path, known: &known) { return node }
    return applied(deciding, to: node, at: path, known: &known)
  }

  /// The node at a place as it stands after all writes before one, also those that listeners do not see.
  func assumed(_ node: TreeNode, at path: Path, before end: WriteID?) -> TreeNode {
    var known = true
    return applied(all.deciding(path, before: end), to: node, at: path, known: &known)
  }

  private func applied(_ ids: [WriteID], to node: TreeNode, at path: Path, known: inout Bool) -> TreeNode {
    var node = node
    for id in ids {
      if let entry = writes[id] { node = node.applying(entry.estimates(touching: path), at: path, known: &known) }
    }
    return node
  }

  /// The same where many writes lie below: each child for itself, and then one map of them all. Nil where a write of the node's
  /// own priority, or a leaf in the children's place, makes the order of the writes count.
  private func childByChild(_ node: TreeNode, at path: Path, known: inout Bool) -> TreeNode? {
    let cover = visible.cover(path, before: nil)
    var base = node
    if let cover { base = applied([cover], to: node, at: path, known: &known) }
    guard base.scalar == nil, let keys = visible.childKeys(path, after: cover) else { return nil }
    var entries = Array(base.children)
    for key in keys {
      var isKnown = true
      entries.append(TreeMap.Entry(key: key, node: shown(base[key], at: path.child(key), known: &isKnown)))
    }
    return .map(TreeMap(entries), priority: base.priority)
  }
}

/// Which writes touch which place: of each place, the numbers of its writes in their order.
private struct WriteIndex: Sendable {
  private struct Writes: PlaceContent, Sendable {
    /// Writes of a node here.
    var sets: [WriteID] = []
    /// Writes of the priority here.
    var priorities: [WriteID] = []

    var isEmpty: Bool { sets.isEmpty && priorities.isEmpty }

    mutating func remove(_ id: WriteID, isSet: Bool) {
      if isSet { Self.remove(id, from: &sets) } else { Self.remove(id, from: &priorities) }
    }

    private static func remove(_ id: WriteID, from ids: inout [WriteID]) {
      let index = ids.firstIndex(notBefore: id)
      if index < ids.count, ids[index] == id { ids.remove(at: index) }
    }
  }

  private var places = PlaceTree<Writes>()

  mutating func insert(_ write: PendingWrite) {
    for change in write.estimates {
      places.update(change.path) { if change.isNode { $0.sets.append(write.id) } else { $0.priorities.append(write.id) } }
    }
  }

  mutating func remove(_ write: PendingWrite) {
    for change in write.estimates { places.update(change.path) { $0.remove(write.id, isSet: change.isNode) } }
  }

  /// The last write that replaces the whole node at a place.
  func cover(_ path: Path, before end: WriteID?) -> WriteID? {
    var cover: WriteID?
    places.walk(to: path) { writes in
      if let last = writes.sets.last(before: end), cover.map({ $0 < last }) ?? true { cover = last }
    }
    return cover
  }

  /// The writes that decide what stands at a place, in their order: the last that replaces it, and what came over it.
  func deciding(_ path: Path, before end: WriteID?) -> [WriteID] {
    let cover = cover(path, before: end)
    var ids: Set<WriteID> = []
    if let cover { ids.insert(cover) }
    if let place = places.walk(to: path) { Self.collect(place, after: cover, before: end, into: &ids) }
    return ids.sorted()
  }

  /// Whether a write is at a place, above or below.
  func touch(_ path: Path) -> Bool { places.walk(to: path) != nil || cover(path, before: nil) != nil }

  /// The children of a place that writes later than one touch; nil if one of them writes the priority of the place itself.
  func childKeys(_ path: Path, after id: WriteID?) -> [Key]? {
    guard let place = places.walk(to: path) else { return [] }
    if let last = place.content.priorities.last, id.map({ $0 < last }) ?? true { return nil }
    return place.children.compactMap { Self.hasLater($0.value, than: id) ? $0.key : nil }
  }

  /// Whether a write at a place or below is later than another.
  private static func hasLater(_ place: PlaceTree<Writes>.Node, than id: WriteID?) -> Bool {
    guard let id else { return true }
    if let last = place.content.sets.last, last > id { return true }
    if let last = place.content.priorities.last, last > id { return true }
    return place.children.values.contains { hasLater($0, than: id) }
  }

  /// The writes at a place and below that are later than one and earlier than another.
  private static func collect(
    _ place: PlaceTree<Writes>.Node, after start: WriteID?, before end: WriteID?, into ids: inout Set<WriteID>
  ) {
    ids.formUnion(place.content.sets.between(start, and: end))
    ids.formUnion(place.content.priorities.between(start, and: end))
    for child in place.children.values { collect(child, after: start, before: end, into: &ids) }
  }
}

extension [WriteID] {
  /// The index of the first that is not before one; they are in order.
  fileprivate func firstIndex(notBefore id: WriteID) -> Int {
    // Answers come in the order of the calls.
    if let first, first >= id { return 0 }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  fileprivate func last(before end: WriteID?) -> WriteID? {
    guard let end else { return last }
    let index = firstIndex(notBefore: end)
    return index > 0 ? self[index - 1] : nil
  }

  fileprivate func between(_ start: WriteID?, and end: WriteID?) -> ArraySlice<WriteID> {
    let first = start.map { firstIndex(notBefore: WriteID($0.number + 1)) } ?? 0
    let last = end.map { firstIndex(notBefore: $0) } ?? count
    return first < last ? self[first..<last] : []
  }
}
