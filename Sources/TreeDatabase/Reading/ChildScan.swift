import StorageCore
import TreeModel

/// Walks over the children of one node in key order, reading only what it walks over.
struct ChildScan {
  let snapshot: any Snapshot
  let namespace: NamespaceID
  let parent: PathBytes

  /// Rows that are fetched at once, at first and at most.
  private static let chunkRows = (first: 128, max: 4096)

  /// Behind the last child.
  var end: PathBytes { parent.subtreeEnd ?? .afterAll }

  /// Shows the children of a range, first to last, until `body` returns false.
  func ascending(
    from start: PathBytes, to end: PathBytes, meter: inout ReadMeter,
    body: (TreeMap.Entry) throws(TreeReadError) -> Bool
  ) throws(TreeReadError) {
    var lower = start
    var chunk = Self.chunkRows.first
    // The leaves of the child that is being read: it may go on in the next chunk.
    var leaves: [Leaf] = []
    var child = PathBytes.root
    while lower < end {
      let rows = try reading { () throws(StorageError) in
        try snapshot.leaves(in: namespace, from: lower, to: end, limit: chunk, bytesMax: meter.bytesLeft)
      }
      try meter.visit(rows: rows.count, bytes: Self.bytes(of: rows))
      for row in rows {
        if !leaves.isEmpty, !child.contains(row.leaf.path) {
          guard try body(entry(of: leaves, at: child)) else { return }
          leaves.removeAll(keepingCapacity: true)
        }
        if leaves.isEmpty { child = try self.child(row.leaf.path) }
        leaves.append(row.leaf)
        try meter.check(leaves: leaves.count)
      }
      guard rows.count == chunk, let last = rows.last else { break }
      // A path with a zero byte added is the next one that there could be.
      lower = PathBytes(bytes: last.leaf.path.bytes + [0])
      chunk = min(chunk * 4, Self.chunkRows.max)
    }
    if !leaves.isEmpty { _ = try body(entry(of: leaves, at: child)) }
  }

  /// Shows the children of a range, last to first, until `body` returns false; one seek and one read a child.
  func descending(
    from start: PathBytes, to end: PathBytes, meter: inout ReadMeter,
    body: (TreeMap.Entry) throws(TreeReadError) -> Bool
  ) throws(TreeReadError) {
    var upper = end
    while start < upper {
      let last = try reading { () throws(StorageError) in try snapshot.lastPath(in: namespace, before: upper) }
      guard let last, !(last < start) else { return }
      upper = try child(last)
      guard let entry = try entry(at: upper, meter: &meter), try body(entry) else { return }
    }
  }

  /// The child that stands at a path; nil if nothing does.
  func entry(at child: PathBytes, meter: inout ReadMeter) throws(TreeReadError) -> TreeMap.Entry? {
    let rows = try reading { () throws(StorageError) in
      try snapshot.leaves(
        in: namespace, from: child, to: child.subtreeEnd ?? .afterAll, limit: meter.leavesMax + 1, bytesMax: meter.bytesLeft)
    }
    try meter.visit(rows: rows.count, bytes: Self.bytes(of: rows))
    try meter.check(leaves: rows.count)
    return rows.isEmpty ? nil : try entry(of: rows.map(\.leaf), at: child)
  }

  /// The child in whose subtree a path lies.
  private func child(_ path: PathBytes) throws(TreeReadError) -> PathBytes {
    guard let (_, next) = path.key(at: parent.bytes.count) else { throw .storage(.unreadablePath) }
    return PathBytes(bytes: Array(path.bytes[..<next]))
  }

  private func entry(of leaves: [Leaf], at child: PathBytes) throws(TreeReadError) -> TreeMap.Entry {
    guard let key = child.key(at: parent.bytes.count)?.key, let node = TreeNode(leaves: leaves, at: child) else {
      throw .storage(.unreadablePath)
    }
    return TreeMap.Entry(key: key, node: node)
  }

  static func bytes(of rows: [StoredLeaf]) -> Int { rows.reduce(0) { $0 + $1.leaf.bytes } }
}

extension StorageError {
  static let unreadablePath = StorageError(
    .damaged, "A stored path cannot be read; run doubloon ledger verify, or restore a backup.")
}

/// How much one read may cost, and when it is no longer wanted.
public struct ReadBounds: Sendable {
  /// Leaves and priorities that an answer may hold.
  public var leavesMax: Int
  /// Bytes of paths and values that may be looked at.
  public var bytesMax: Int
  /// Rows that may be looked at, those that are left out of the answer included.
  public var visitsMax: Int
  /// Asked now and then while rows are read: true ends the read with ``TreeReadError/stopped``.
  public var isUnwanted: (@Sendable () -> Bool)?

  public init(leavesMax: Int, bytesMax: Int, visitsMax: Int, isUnwanted: (@Sendable () -> Bool)? = nil) {
    self.leavesMax = leavesMax
    self.bytesMax = bytesMax
    self.visitsMax = visitsMax
    self.isUnwanted = isUnwanted
  }

  /// What an event loop may do between two packets.
  public static let brief = ReadBounds(leavesMax: 512, bytesMax: 1 << 20, visitsMax: 1024)
  /// What one answer may hold; for a thread that may take its time.
  public static let standard = ReadBounds(leavesMax: 1_000_000, bytesMax: 64 << 20, visitsMax: 4_000_000)
  /// What an administrator may ask for at once: 256 MB, as hosted (Firebase, "Realtime Database Limits").
  public static let generous = ReadBounds(leavesMax: 4_000_000, bytesMax: 256 << 20, visitsMax: 40_000_000)
}

/// Counts what a read has cost so far.
struct ReadMeter {
  private let bounds: ReadBounds
  private var visits = 0
  private var bytes = 0

  init(_ bounds: ReadBounds) {
    self.bounds = bounds
  }

  /// Bytes that may still be looked at.
  var bytesLeft: Int { bounds.bytesMax - bytes }

  /// The number of leaves that may be asked for at once.
  var leavesMax: Int { bounds.leavesMax }

  mutating func visit(rows: Int, bytes added: Int) throws(TreeReadError) {
    visits += rows
    bytes += added
    guard visits <= bounds.visitsMax, bytes <= bounds.bytesMax else { throw .tooLarge }
    if let isUnwanted = bounds.isUnwanted, isUnwanted() { throw .stopped }
  }

  func check(leaves: Int) throws(TreeReadError) {
    guard leaves <= bounds.leavesMax else { throw .tooLarge }
  }
}
