/// Picks a query's window out of children that are shown one after the other, and holds little more than the window.
///
/// For children that do not come in the query's order: a node of a million children is searched for its first ten with
/// less than a hundred in memory.
public struct WindowCollector {
  private let query: Query
  private var entries: [TreeMap.Entry] = []
  /// How many may gather before those that cannot be in the window are let go; nil if all stay.
  private let gatheringMax: Int?
  /// How many leaves the children hold that gathered so far.
  public private(set) var leafCount = 0

  /// An empty collection for one query.
  public init(_ query: Query) {
    self.query = query
    switch query.limit {
    case nil: gatheringMax = nil
    case .first(let count), .last(let count): gatheringMax = 2 * min(max(0, count), Int.max / 4) + 64
    }
  }

  /// How many children gathered; those that a limit will leave out may be among them.
  public var count: Int { entries.count }

  /// Shows a child; each must be shown once.
  ///
  /// - Returns: whether it lies within the query's bounds.
  @discardableResult
  public mutating func add(_ entry: TreeMap.Entry) -> Bool {
    guard query.admits(entry) else { return false }
    entries.append(entry)
    leafCount += entry.node.leafCount
    if let gatheringMax, entries.count > gatheringMax { trim() }
    return true
  }

  /// Lets go of what cannot be in the window.
  public mutating func trim() {
    guard gatheringMax != nil else { return }
    entries = query.window(of: .map(TreeMap(entries)))
    leafCount = entries.reduce(0) { $0 + $1.node.leafCount }
  }

  /// The window as a node, as ``Query/result(of:)`` gives it.
  public func result() -> TreeNode {
    // Every one of them is within the bounds: unless there are more than the limit takes, they are the window.
    switch query.limit {
    case .first(let count)? where entries.count > count: break
    case .last(let count)? where entries.count > count: break
    default: return .map(TreeMap(entries))
    }
    return query.result(of: .map(TreeMap(entries)))
  }
}
