extension SchemaMigration {
  /// Puts long values into a table of their own: before, every look-up beside one read it whole.
  static let longValues = SchemaMigration(
    from: 1,
    script: longValueTable
      + [
        move("value", of: "node", key: ["ns", "path"], over: 1000),
        move("before", of: "history", key: ["ns", "path", "revision"], over: 1000),
        move("value", of: "checkpoint_leaf", key: ["ns", "revision", "path"], over: 1000),
        move("changes", of: "commit_log", key: ["ns", "revision"], over: 4000),
        move("answer", of: "idempotency", key: ["ns", "key"], over: 4000),
      ].joined()
      + "INSERT INTO meta (name, value) SELECT 'long_value_last', CAST(coalesce(max(id), 0) AS TEXT) FROM long_value;")

  private static let longValueTable = """
    CREATE TABLE long_value (
      id INTEGER NOT NULL PRIMARY KEY,      -- none is given twice
      tag BLOB NOT NULL,                    -- the first byte of the value
      value BLOB NOT NULL
    );

    """

  /// Gives each longer value of a column a number, and puts that into its place.
  ///
  /// - Parameter key: what the value is of. Rows of the history that are being merged are of the same key, and share a number.
  private static func move(_ column: String, of table: String, key: [String], over limit: Int) -> String {
    let columns = key.joined(separator: ", ")
    let isSame = key.map { "moving.\($0) = \(table).\($0)" }.joined(separator: " AND ")
    return """
      CREATE TEMP TABLE moving AS SELECT \(columns), (SELECT coalesce(max(id), 0) FROM long_value)
        + row_number() OVER (ORDER BY \(columns)) AS id
        FROM (SELECT DISTINCT \(columns) FROM \(table) WHERE length(\(column)) > \(limit));
      CREATE UNIQUE INDEX temp.moving_key ON moving (\(columns));
      INSERT OR IGNORE INTO long_value (id, tag, value) SELECT moving.id, substr(\(column), 1, 1), \(column)
        FROM \(table) CROSS JOIN moving USING (\(columns)) WHERE length(\(column)) > \(limit);
      UPDATE \(table) SET \(column) = (SELECT id FROM moving WHERE \(isSame)) WHERE length(\(column)) > \(limit);
      DROP TABLE temp.moving;

      """
  }
}
