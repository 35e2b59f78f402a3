import StorageCore
import TreeModel

@testable import StorageSQLite

/// A text whose stored form has so many bytes: a tag, the length in one or two, and the text.
func text(storedBytes count: Int, _ mark: String = "x") -> Scalar {
  .string(String(repeating: mark, count: count < 130 ? count - 2 : count - 3))
}

extension Committer {
  /// Prunes the past up to a revision, as `LogPruning` does.
  func prune(through revision: Revision, of engine: SQLiteEngine) throws {
    let (leaves, commit) = try engine.read { (snapshot) throws(StorageError) in
      (
        try snapshot.leaves(in: ns, under: .root, asOf: revision, limit: .max).map(\.leaf),
        try snapshot.commit(in: ns, at: revision)
      )
    }
    guard let commit else { return }
    var hash = TreeHash()
    for leaf in leaves { hash.add(leaf) }
    try maintain { $0.checkpointLeaves = (revision, leaves) }
    try maintain {
      $0.checkpoint = CheckpointRecord(
        revision: revision, commitTime: commit.time, commitHash: commit.hash, treeHash: hash.finalized(), leafCount: hash.count,
        actor: .anonymous, reason: "full", createdAt: 1)
    }
    try maintain { $0.pruning = .clearLeaves(keeping: revision) }
    try maintain { $0.pruning = .forgetChanges(after: .zero, through: revision) }
    try maintain { $0.pruning = .forgetHistory(through: revision) }
  }

  /// Commits one step of the administrators' work.
  func maintain(_ fill: (inout Maintenance) -> Void) throws {
    var maintenance = Maintenance()
    fill(&maintenance)
    session.put(maintenance, in: ns)
    try session.commit()
  }
}

extension SQLiteEngine {
  /// Merges what there is to merge.
  func compactAll() throws {
    for _ in 0..<10_000 where try !compact() { return }
  }

  /// The first column of a query on the store's file.
  func rows(_ sql: String) throws -> [String] {
    let inspector = try SQLiteConnection(path: path)
    defer { inspector.close() }
    return try inspector.texts(sql)
  }
}

/// Schema 1, in which long values stood in their rows.
enum FirstSchema {
  /// Takes a store that nobody has open back to it.
  static func restore(_ path: String) throws {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    for (table, column) in LongValue.columns {
      try connection.execute(
        "UPDATE \(table) SET \(column) = \(LongValue.content("\(table).\(column)")) WHERE typeof(\(column)) = 'integer'")
    }
    try connection.execute("DROP TABLE long_value; DELETE FROM meta WHERE name = 'long_value_last'")
    try connection.setMeta(.schemaVersion, to: 1)
    try connection.writeDigests()
  }
}
