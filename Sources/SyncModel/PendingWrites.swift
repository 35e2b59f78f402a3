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
    func estimates(touching path: Path) -> [PendingWrite.Estimate] {
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

/// Which writes touch which place: a tree of the places, with the numbers of the writes in their order.
private struct WriteIndex: Sendable {
  private struct Place: Sendable {
    /// Writes of a node here.
    var sets: [WriteID] = []
    /// Writes of the priority here.
    var priorities: [WriteID] = []
    var children: [Key: Place] = [:]

    var isEmpty: Bool { sets.isEmpty && priorities.isEmpty && children.isEmpty }

    mutating func insert(_ id: WriteID, isSet: Bool, _ keys: ArraySlice<Key>) {
      guard let key = keys.first else {
        if isSet { sets.append(id) } else { priorities.append(id) }
        return
      }
      children[key, default: Place()].insert(id, isSet: isSet, keys.dropFirst())
    }

    mutating func remove(_ id: WriteID, isSet: Bool, _ keys: ArraySlice<Key>) {
      guard let key = keys.first else {
        if isSet { Self.remove(id, from: &sets) } else { Self.remove(id, from: &priorities) }
        return
      }
      children[key]?.remove(id, isSet: isSet, keys.dropFirst())
      if children[key]?.isEmpty == true { children[key] = nil }
    }

    private static func remove(_ id: WriteID, from ids: inout [WriteID]) {
      let index = ids.firstIndex(notBefore: id)
      if index < ids.count, ids[index] == id { ids.remove(at: index) }
    }

    /// Whether a write here or below is later than another.
    func hasLater(than id: WriteID?) -> Bool {
      guard let id else { return true }
      if let last = sets.last, last > id { return true }
      if let last = priorities.last, last > id { return true }
      return children.values.contains { $0.hasLater(than: id) }
    }

    /// The writes here and below that are later than one and earlier than another.
    func collect(after start: WriteID?, before end: WriteID?, into ids: inout Set<WriteID>) {
      ids.formUnion(sets.between(start, and: end))
      ids.formUnion(priorities.between(start, and: end))
      for child in children.values { child.collect(after: start, before: end, into: &ids) }
    }
  }

  private var root = Place()

  mutating func insert(_ write: PendingWrite) {
    for estimate in write.estimates { root.insert(write.id, isSet: estimate.isNode, estimate.path.keys[...]) }
  }

  mutating func remove(_ write: PendingWrite) {
    for estimate in write.estimates { root.remove(write.id, isSet: estimate.isNode, estimate.path.keys[...]) }
  }

  /// The last write that replaces the whole node at a place.
  func cover(_ path: Path, before end: WriteID?) -> WriteID? {
    var place = root
    var cover = place.sets.last(before: end)
    for key in path.keys {
      guard let child = place.children[key] else { break }
      place = child
      if let last = place.sets.last(before: end), cover.map({ $0 < last }) ?? true { cover = last }
    }
    return cover
  }

  private func place(_ path: Path) -> Place? {
    var place = root
    for key in path.keys {
      guard let child = place.children[key] else { return nil }
      place = child
    }
    return place
  }

  /// The writes that decide what stands at a place, in their order: the last that replaces it, and what came over it.
  func deciding(_ path: Path, before end: WriteID?) -> [WriteID] {
    let cover = cover(path, before: end)
    var ids: Set<WriteID> = []
    if let cover { ids.insert(cover) }
    place(path)?.collect(after: cover, before: end, into: &ids)
    return ids.sorted()
  }

  /// Whether a write is at a place, above or below.
  func touch(_ path: Path) -> Bool { place(path) != nil || cover(path, before: nil) != nil }

  /// The children of a place that writes later than one touch; nil if one of them writes the priority of the place itself.
  func childKeys(_ path: Path, after id: WriteID?) -> [Key]? {
    guard let place = place(path) else { return [] }
    if let last = place.priorities.last, id.map({ $0 < last }) ?? true { return nil }
    return place.children.compactMap { $0.value.hasLater(than: id) ? $0.key : nil }
  }
}

extension PendingWrite.Estimate {
  fileprivate var isNode: Bool {
    if case .node = value { true } else { false }
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
