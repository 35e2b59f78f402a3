internal import StorageCore
internal import TreeModel

/// A range of stored paths, from `lower` up to but without `upper`.
struct PathRange {
  let lower: [UInt8]
  let upper: [UInt8]

  static let end = PathBytes.afterAll.bytes

  init(lower: [UInt8], upper: [UInt8]) {
    self.lower = lower
    self.upper = upper
  }

  /// The subtree at `path`, with its own leaf and priority.
  init(subtree path: PathBytes) {
    lower = path.bytes
    upper = path.subtreeEnd?.bytes ?? Self.end
  }

  func contains(_ path: PathBytes) -> Bool {
    !path.bytes.precedes(lower) && path.bytes.precedes(upper)
  }
}

extension SQLiteConnection {
  func leaf(_ ns: NamespaceID, at path: PathBytes) throws(StorageError) -> StoredLeaf? {
    try statement(.leaf).bind(ns.rawValue).bind(path.bytes).first(Self.leaf)
  }

  func leaves(_ ns: NamespaceID, in range: PathRange, limit: Int) throws(StorageError) -> [StoredLeaf] {
    try statement(.leavesAscending).bind(ns.rawValue).bind(range.lower).bind(range.upper).all(limit: limit, Self.leaf)
  }

  func leaf(_ ns: NamespaceID, before path: PathBytes) throws(StorageError) -> StoredLeaf? {
    try statement(.leavesDescending).bind(ns.rawValue).bind(path.bytes).first(Self.leaf)
  }

  func firstPath(_ ns: NamespaceID, in range: PathRange) throws(StorageError) -> PathBytes? {
    try statement(.firstPath).bind(ns.rawValue).bind(range.lower).bind(range.upper).first {
      row throws(StorageError) in PathBytes(bytes: row.bytes(0))
    }
  }

  /// Reads a row of path, revision, value.
  static func leaf(_ row: SQLiteStatement) throws(StorageError) -> StoredLeaf {
    let path = PathBytes(bytes: row.bytes(0))
    return StoredLeaf(leaf: Leaf(path: path, scalar: try Scalar(stored: row.raw(2))), revision: Revision(row.int(1)))
  }

  /// Up to which revision the history is complete, and up to which the past was pruned.
  func watermark(_ ns: NamespaceID) throws(StorageError) -> (history: Int64, pruned: Int64) {
    try statement(.watermark).bind(ns.rawValue).first { row throws(StorageError) in (row.int(0), row.int(1)) } ?? (0, 0)
  }
}
