import AdminModel
import HTTPServer
import StorageCore
import TreeDatabase
import TreeModel

/// One window of a node's children as an answer: as many as were asked for, and no more than an answer may hold.
struct ChildListing {
  /// Where a window begins, or ends.
  enum Anchor {
    case first
    case after(Key)
    case from(Key)
    case before(Key)
  }

  /// Bytes of a text that are shown.
  static let textMax = 1024
  /// Bytes of rows that an answer holds, as JSON.
  private static let bytesMax = 60 << 10
  /// Rows of the history that are looked at for the last change of a child.
  private static let historyRows = 500
  /// Leaves that are looked at to order children by anything but their keys.
  private static let orderedMax = 100_000

  let path: Path
  let namespace: NamespaceID
  let limit: Int
  let snapshot: any Snapshot
  /// Whose tree it is.
  let revision: Revision
  /// The same, where it is not the newest.
  private let past: Revision?
  private var scan: ChildSummaryScan
  private var found: [ChildSummary] = []
  private var bytes = 0

  init(of path: Path, in namespace: NamespaceID, asOf revision: Revision, limit: Int, snapshot: any Snapshot) throws {
    self.path = path
    self.namespace = namespace
    self.limit = limit
    self.snapshot = snapshot
    self.revision = revision
    past = try revision < snapshot.head(of: namespace).revision ? revision : nil
    scan = ChildSummaryScan(of: path, in: namespace, asOf: past, snapshot: snapshot)
  }

  /// The window in the order of the keys.
  mutating func window(at anchor: Anchor) throws -> AdminTree.Children {
    let start: PathBytes
    switch anchor {
    case .before(let key): return try window(before: key)
    case .first: start = scan.start
    case .from(let key): start = scan.parent.child(key)
    case .after(let key): start = scan.parent.child(key).subtreeEnd ?? scan.end
    }
    let ending = try walk { (scan, take) throws(TreeReadError) in try scan.ascending(from: start, to: scan.end, body: take) }
    var answer = try answer()
    answer.next = next(after: ending)
    let isFirst = if case .first = anchor { true } else { false }
    if !isFirst, try scan.hasChild(before: found.first?.path ?? start) {
      answer.previous = found.first?.key.text ?? answer.next
    }
    return try finished(answer)
  }

  private mutating func window(before key: Key) throws -> AdminTree.Children {
    let end = scan.parent.child(key)
    let ending = try walk { (scan, take) throws(TreeReadError) in try scan.descending(from: end, body: take) }
    let previous = next(after: ending)
    found.reverse()
    var answer = try answer()
    answer.previous = previous
    if let last = found.last, let behind = last.path.subtreeEnd, try scan.hasChild(from: behind, to: scan.end) {
      answer.next = last.key.text
    }
    return try finished(answer)
  }

  /// The window in another order, and between bounds of it.
  ///
  /// - `wanted`: the order and the bounds; the limit is this listing's.
  mutating func window(_ wanted: Query, at anchor: Anchor, reader: TreeReader) throws -> AdminTree.Children {
    let entries: [TreeMap.Entry]
    do {
      entries = try self.entries(wanted, at: anchor, reader: reader)
    } catch let error as TreeReadError {
      guard case .tooLarge = error else { throw error }
      throw APIError.badRequest(
        "To order the children of \(path) by \(wanted.order.shownName), more than 100,000 values would have to be looked at. Order them by "
          + "$key, or declare an index for that order in the rules (.indexOn).")
    }
    let isBackward = if case .before = anchor { true } else { false }
    for entry in isBackward ? entries.reversed() : entries where !take(ChildSummary(entry, below: path)) { break }
    let hasMore = found.count < entries.count
    if isBackward { found.reverse() }
    var answer = try answer()
    if hasMore || isBackward { answer.next = found.last?.key.text }
    if case .after = anchor { answer.previous = found.first?.key.text }
    if isBackward { answer.previous = hasMore ? found.first?.key.text : nil }
    return try finished(answer)
  }

  /// The children of a window in its order, and one more where there are more.
  private mutating func entries(_ wanted: Query, at anchor: Anchor, reader: TreeReader) throws -> [TreeMap.Entry] {
    let bounds = ReadBounds(leavesMax: Self.orderedMax, bytesMax: 64 << 20, visitsMax: Self.orderedMax)
    var whole: TreeNode?
    if past != nil {
      guard let leaves = try scan.leaves(max: Self.orderedMax), let node = TreeNode(leaves: leaves, at: scan.parent) else {
        throw TreeReadError.tooLarge
      }
      whole = node
    }
    func place(_ key: Key) throws -> TreeMap.Entry {
      let node = try whole?[key] ?? reader.node(at: path.child(key), in: namespace, of: snapshot, within: bounds)
      let entry = TreeMap.Entry(key: key, node: node)
      guard node.exists, wanted.admits(entry) else {
        throw APIError.badRequest(
          "\(key) is not, or is no longer, among those children of \(path), so what comes behind or before it is not known. Begin "
            + "again without after and before.")
      }
      return entry
    }
    var query = wanted
    query.limit = .first(limit + 1)
    var isWanted: (TreeMap.Entry) -> Bool = { _ in true }
    let order = wanted.order
    switch anchor {
    case .first, .from: break
    case .after(let key):
      let edge = try place(key)
      if let value = order.bound(of: edge.node) {
        query.start = .start(value, key: key, isInclusive: false)
      } else {
        query.limit = nil
        isWanted = { order.precedes(edge, $0) }
      }
    case .before(let key):
      let edge = try place(key)
      query.limit = .last(limit + 1)
      if let value = order.bound(of: edge.node) {
        query.end = .end(value, key: key, isInclusive: false)
      } else {
        query.limit = nil
        isWanted = { order.precedes($0, edge) }
      }
    }
    let node = try whole ?? reader.result(of: query, at: path, in: namespace, of: snapshot, within: bounds).node
    let entries = query.window(of: node).filter(isWanted)
    if case .before = anchor { return entries.suffix(limit + 1) }
    return Array(entries.prefix(limit + 1))
  }

  // MARK: Rows

  /// Takes the children that a walk shows.
  private mutating func walk(
    _ body: (inout ChildSummaryScan, _ take: (ChildSummary) -> Bool) throws(TreeReadError) -> ChildScanEnd
  ) throws(TreeReadError) -> ChildScanEnd {
    var scan = scan
    defer { self.scan = scan }
    return try body(&scan) { take($0) }
  }

  /// Takes a child, if there is room for it.
  private mutating func take(_ child: ChildSummary) -> Bool {
    guard found.count < limit, bytes < Self.bytesMax else { return false }
    var writer = JSONWriter()
    writer.string(child.key.text)
    for scalar in [child.scalar, child.priority] {
      if let text = scalar?.stringValue { writer.string(text.prefix(bytes: Self.textMax)) }
    }
    // Beside the texts: names of members and numbers.
    let size = writer.bytes.count + 160
    guard found.isEmpty || bytes + size <= Self.bytesMax else {
      bytes = Self.bytesMax
      return false
    }
    bytes += size
    found.append(child)
    return true
  }

  /// The key to go on behind, where more may follow.
  private func next(after ending: ChildScanEnd) -> String? {
    switch ending {
    case .whole: nil
    case .enough: found.last?.key.text
    case .spent(let key): key.text
    }
  }

  private mutating func answer() throws -> AdminTree.Children {
    let own = try scan.own()
    let (value, length) = Self.shown(own.scalar)
    return AdminTree.Children(
      path: path.description, revision: revision.rawValue, exists: own.scalar != nil || !found.isEmpty, value: value,
      cut: length == nil ? nil : true, bytes: length, priority: Self.shown(own.priority).value, rows: [])
  }

  /// The answer with its rows and the times of their last changes.
  private mutating func finished(_ answer: AdminTree.Children) throws -> AdminTree.Children {
    var answer = answer
    if !answer.exists { answer.exists = try scan.hasChild(from: scan.start, to: scan.end) }
    let touches = try touches()
    var times: [Revision: Int64] = [:]
    for child in found {
      let isLeaf = child.scalar != nil
      let (value, length) = Self.shown(child.scalar)
      let touch = touches[child.path]
      if let touch, times[touch] == nil { times[touch] = try snapshot.commitTime(in: namespace, at: touch) }
      answer.rows.append(
        AdminTree.Child(
          key: child.key.text, kind: isLeaf ? .leaf : .node, value: value, cut: length == nil ? nil : true, bytes: length,
          children: isLeaf ? nil : child.childCount.map { Int64($0) }, priority: Self.shown(child.priority).value,
          revision: touch?.rawValue, time: touch.flatMap { times[$0] }.map { Timestamp($0) }))
    }
    return answer
  }

  /// The last commits that changed the children. Of a leaf that is there now the leaf itself knows.
  private func touches() throws -> [PathBytes: Revision] {
    let paths = found.map(\.path).sorted()
    let touches = try snapshot.lastTouches(in: namespace, under: paths, through: revision, rowsMax: Self.historyRows)
    var known: [PathBytes: Revision] = [:]
    for (path, touch) in zip(paths, touches) { known[path] = touch }
    if past == nil {
      for child in found where child.scalar != nil && child.revision > .zero && known[child.path] == nil {
        known[child.path] = child.revision
      }
    }
    return known
  }

  /// A value as it is shown, and of a text that is cut how long it is.
  private static func shown(_ scalar: Scalar?) -> (value: JSON?, bytes: Int64?) {
    guard let text = scalar?.stringValue, text.utf8.count > textMax else { return (scalar?.json, nil) }
    return (.string(text.prefix(bytes: textMax)), Int64(text.utf8.count))
  }
}

extension String {
  /// The beginning of a text: at most so many bytes of UTF-8, and no half of a character.
  func prefix(bytes count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: count)
    while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}

extension NodeOrder {
  /// What a bound of a query compares a child by: the outer nil for one that is ordered as a map, which no bound can name; the
  /// inner for one that has no such value.
  fileprivate func bound(of child: TreeNode) -> Scalar?? {
    switch self {
    case .key: .some(nil)
    case .priority: .some(child.priority)
    case .value: child.scalar.map { .some($0) }
    case .child(let path):
      if child[path].exists { child[path].scalar.map { .some($0) } } else { .some(nil) }
    }
  }

  /// The order's name, as a request gives it.
  fileprivate var shownName: String {
    switch self {
    case .key: "$key"
    case .priority: "$priority"
    case .value: "$value"
    case .child: indexName
    }
  }
}
