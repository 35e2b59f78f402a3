public import StorageCore
public import TreeModel

extension TreeReader {
  /// How many names are read between two looks at the bounds.
  private static let namesPerLook = 1024

  /// The names of a node's children, in key order, without what lies below them: one seek each.
  ///
  /// - Parameters:
  ///   - key: the names behind this one; nil: from the first.
  ///   - limit: how many at most; nil: all, of which there may be no more than the bounds allow leaves.
  public func childNames(
    at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot, after key: Key? = nil, limit: Int? = nil,
    within bounds: ReadBounds = .standard
  ) throws(TreeReadError) -> [Key] {
    let parent = PathBytes(path)
    var meter = ReadMeter(bounds)
    var names: [Key] = []
    var last = key
    while names.count < limit ?? .max {
      let wanted = min(Self.namesPerLook, (limit ?? .max) - names.count)
      let found = try reading { () throws(StorageError) in
        try snapshot.children(in: namespace, of: parent, after: last, limit: wanted)
      }
      try meter.visit(rows: found.count, bytes: found.reduce(0) { $0 + $1.text.utf8.count })
      names += found
      try meter.check(leaves: names.count)
      guard found.count == wanted else { break }
      last = found.last
    }
    return names
  }

  /// The value of the leaf at a path; nil if there is a map, or nothing.
  public func leaf(at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot) throws(TreeReadError) -> Scalar? {
    try reading { () throws(StorageError) in try snapshot.leaf(in: namespace, at: PathBytes(path))?.leaf.scalar }
  }

  /// The priority of the node at a path.
  public func priority(at path: Path, in namespace: NamespaceID, of snapshot: any Snapshot) throws(TreeReadError) -> Scalar? {
    try reading { () throws(StorageError) in try snapshot.leaf(in: namespace, at: PathBytes(path).priority)?.leaf.scalar }
  }
}
