/// The children of a node, in key order. Never holds an absent node.
public struct TreeMap: Sendable, Hashable {
  /// A child: its key and its node.
  public struct Entry: Sendable, Hashable {
    /// The child's name.
    public let key: Key
    /// The child.
    public let node: TreeNode

    /// A child under its name.
    public init(key: Key, node: TreeNode) {
      self.key = key
      self.node = node
    }
  }

  private var entries: [Entry]

  /// A map without children.
  public init() {
    entries = []
  }

  /// Sorts the entries and leaves out absent nodes. Of a repeated key the last entry counts, as in JSON.
  public init(_ unsorted: [Entry]) {
    // What comes from storage or from another client is in order already.
    if zip(unsorted, unsorted.dropFirst()).allSatisfy({ $0.key < $1.key }) {
      entries = unsorted.allSatisfy(\.node.exists) ? unsorted : unsorted.filter(\.node.exists)
      return
    }
    // Numbers are sorted, not entries: moving an entry counts references, and most keys differ in their heads.
    var order = unsorted.indices.map { (head: KeyPrefix(unsorted[$0].key), index: $0) }
    order.sort { a, b in
      if a.head != b.head { return a.head < b.head }
      let (x, y) = (unsorted[a.index].key, unsorted[b.index].key)
      return x == y ? a.index < b.index : x < y
    }
    entries = []
    entries.reserveCapacity(unsorted.count)
    for (position, (_, index)) in order.enumerated() {
      let entry = unsorted[index]
      if position + 1 < order.count, unsorted[order[position + 1].index].key == entry.key { continue }
      if entry.node.exists { entries.append(entry) }
    }
  }

  /// Takes entries that are already in key order, unique and present.
  init(sorted: [Entry]) {
    entries = sorted
  }

  /// The child under a key; absent where there is none.
  ///
  /// - Complexity: O(log n).
  public subscript(key: Key) -> TreeNode {
    let index = lowerBound(key)
    return index < entries.count && entries[index].key == key ? entries[index].node : .absent
  }

  /// A copy with the child set, or removed if `node` is absent.
  public func setting(_ key: Key, to node: TreeNode) -> TreeMap {
    var entries = self.entries
    let index = lowerBound(key)
    let found = index < entries.count && entries[index].key == key
    switch (found, node.exists) {
    case (true, true): entries[index] = Entry(key: key, node: node)
    case (true, false): entries.remove(at: index)
    case (false, true): entries.insert(Entry(key: key, node: node), at: index)
    case (false, false): break
    }
    return TreeMap(sorted: entries)
  }

  private func lowerBound(_ key: Key) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension TreeMap: RandomAccessCollection {
  /// The position of the first child in key order.
  public var startIndex: Int { entries.startIndex }
  /// The position after the last child.
  public var endIndex: Int { entries.endIndex }
  /// The child at a position.
  public subscript(position: Int) -> Entry { entries[position] }
}
