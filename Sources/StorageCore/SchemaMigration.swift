/// One step from a schema version to the next. Frozen once it was shipped.
public struct SchemaMigration: Sendable {
  /// The version that it starts from; it ends at the next.
  public let from: Int
  /// SQL that changes a store of version ``from`` in place, in one transaction.
  public let script: String

  public init(from: Int, script: String) {
    self.from = from
    self.script = script
  }

  /// Every step that was shipped, oldest first.
  public static let all = [
    SchemaMigration(from: 1, script: [rulesAndIndexes, historyRuns.script, upkeep].joined(separator: "\n")),
    SchemaMigration(from: 2, script: [attempts, serviceAccounts, accounts, links].joined(separator: "\n")),
    secondFactors,
    witnesses,
  ]

  /// Version 2: rules and the indexes that they declare.
  private static let rulesAndIndexes = """
    -- A namespace's security rules, as they were uploaded.
    CREATE TABLE rules (
      ns BIGINT NOT NULL PRIMARY KEY,
      source TEXT NOT NULL,
      updated_at BIGINT NOT NULL,
      last_index BIGINT NOT NULL            -- the last number that was given to an index; none is given twice
    ) WITHOUT ROWID;

    -- The indexes that the rules declare.
    CREATE TABLE tree_index (
      ns BIGINT NOT NULL,
      id BIGINT NOT NULL,
      pattern TEXT NOT NULL,                -- where the parents stand: /users/$uid/items
      child_order TEXT NOT NULL,            -- .value, .priority or the path of a child
      state TEXT NOT NULL,                  -- building, ready, dropping
      cursor BLOB,                          -- building goes on at this path; NULL: at the beginning
      child_count BIGINT NOT NULL,          -- children that building has placed
      PRIMARY KEY (ns, id)
    ) WITHOUT ROWID;

    -- The children of indexed nodes in the index's order. A place is the rank of what the child is ordered by, then its key, in
    -- a binary form that sorts like the order (IndexPlace), so that the first or last children by an index are one range.
    CREATE TABLE index_place (
      ns BIGINT NOT NULL,
      index_id BIGINT NOT NULL,
      parent BLOB NOT NULL,
      place BLOB NOT NULL,
      PRIMARY KEY (ns, index_id, parent, place)
    ) WITHOUT ROWID;
    """
}
