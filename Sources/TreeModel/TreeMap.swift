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
    var sorted = unsorted.enumerated()
      .sorted { $0.element.key == $1.element.key ? $0.offset < $1.offset : $0.element.key < $1.element.key }
      .map(\.element)
    if sorted.count > 1 {
      var unique: [Entry] = []
      unique.reserveCapacity(sorted.count)
      for entry in sorted {
        if let last = unique.last, last.key == entry.key { unique.removeLast() }
        unique.append(entry)
      }
      sorted = unique
    }
    entries = sorted.filter(\.node.exists)
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
