internal import StorageCore
internal import TreeModel

extension StoreCheck {
  /// Leaves that are kept in memory at a time, as hashes.
  private static let leavesPerPass: Int64 = 500_000

  /// What a place must hold.
  private struct Expected {
    /// The revision of its last change; nil where a checkpoint says only that it was not later than that.
    let revision: Int64?
    let value: Int
  }

  /// Replays the log, and compares each leaf of the tree with what it gives. A large tree is gone through in parts.
  mutating func checkTree() throws(StorageError) {
    let count = try connection.texts("SELECT count(*) FROM node").first.flatMap { Int64($0) } ?? 0
    let passes = count / Self.leavesPerPass + 1
    for pass in 0..<passes { try compareTree(pass, of: passes) }
    report.count(count)
  }

  private mutating func compareTree(_ pass: Int64, of passes: Int64) throws(StorageError) {
    var tree = try replayed(pass, of: passes)
    let rows = try SQLiteStatement("SELECT ns, path, revision, value FROM node", on: connection, isKept: false)
    defer { rows.reset() }
    while try rows.step() {
      let ns = rows.int(0)
      let place = Self.hash(ns, rows.raw(1))
      guard Self.isIn(pass, of: passes, place) else { continue }
      let (revision, pruned) = (rows.int(2), namespaces[ns]?.pruned ?? 0)
      guard let expected = tree.removeValue(forKey: place) else {
        // A checkpoint holds nothing of accounts.
        if PathBytes(bytes: rows.bytes(1)).isAccounts, revision <= pruned { continue }
        report.note("\(Self.name(rows.bytes(1))) of namespace \(ns) stands in the tree, but not in the log.")
        continue
      }
      if expected.value != Self.hash(0, rows.raw(3)) {
        report.note("\(Self.name(rows.bytes(1))) of namespace \(ns) is not what the log says.")
      } else if expected.revision.map({ $0 != revision }) ?? (revision > pruned || revision < 1) {
        report.note("\(Self.name(rows.bytes(1))) of namespace \(ns) says that commit \(revision) wrote it, which is not so.")
      }
    }
    if !tree.isEmpty { report.note("\(tree.count) leaves that the log has are missing in the tree.") }
  }

  /// The tree by the last checkpoint and the log.
  private mutating func replayed(_ pass: Int64, of passes: Int64) throws(StorageError) -> [Int: Expected] {
    var tree: [Int: Expected] = [:]
    let leaves = try SQLiteStatement(
      """
      SELECT ns, path, value FROM checkpoint_leaf JOIN namespace ON id = ns AND pruned_revision = revision
      """, on: connection, isKept: false)
    defer { leaves.reset() }
    while try leaves.step() {
      let place = Self.hash(leaves.int(0), leaves.raw(1))
      guard Self.isIn(pass, of: passes, place) else { continue }
      tree[place] = Expected(revision: nil, value: Self.hash(0, leaves.raw(2)))
    }
    for (ns, past) in namespaces {
      try connection.forEachCommit(NamespaceID(rawValue: ns), after: past.pruned) { commit throws(StorageError) in
        for change in commit.changes ?? [] {
          let place = change.path.bytes.withUnsafeBytes { Self.hash(ns, $0) }
          guard Self.isIn(pass, of: passes, place) else { continue }
          tree[place] = change.after.map { value in
            Expected(revision: commit.revision.rawValue, value: value.storedBytes.withUnsafeBytes { Self.hash(0, $0) })
          }
        }
        return true
      }
    }
    return tree
  }

  private static func isIn(_ pass: Int64, of passes: Int64, _ place: Int) -> Bool {
    UInt64(bitPattern: Int64(place)) % UInt64(passes) == UInt64(pass)
  }

  private static func hash(_ number: Int64, _ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(number)
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }

  private static func name(_ path: [UInt8]) -> String {
    PathBytes(bytes: path).path?.description ?? "A leaf"
  }
}
