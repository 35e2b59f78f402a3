internal import StorageCore

extension StoreCheck {
  /// The numbers of long values that rows name. Of the past from before the pruning a value may be gone while a run still has its row.
  private static let named = """
    SELECT value AS id FROM node WHERE typeof(value) = 'integer'
    UNION ALL SELECT value FROM checkpoint_leaf WHERE typeof(value) = 'integer'
    UNION ALL SELECT changes FROM commit_log WHERE typeof(changes) = 'integer'
    UNION ALL SELECT answer FROM idempotency WHERE typeof(answer) = 'integer'
    UNION ALL SELECT DISTINCT before FROM history JOIN namespace ON namespace.id = ns
    WHERE typeof(before) = 'integer' AND revision > pruned_revision
    """

  /// Each long value is named by one row, or by rows of the history that are merged; and is stored as it is when it is written. That it
  /// is what was written is seen where its row is.
  mutating func checkLongValues() throws(StorageError) {
    guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = '\(LongValue.table)'").isEmpty else { return }
    let count = try number("SELECT count(*) FROM long_value")
    report.count(count)
    let outdated = "SELECT before FROM history WHERE typeof(before) = 'integer'"
    let last = try connection.meta(.lastLongValue) ?? 0
    for (condition, words) in [
      ("FROM long_value WHERE id NOT IN (\(Self.named) UNION ALL \(outdated))", "belong to no row"),
      ("FROM (\(Self.named)) WHERE id NOT IN (SELECT id FROM long_value)", "are missing"),
      ("FROM (SELECT 1 FROM (\(Self.named)) GROUP BY id HAVING count(*) > 1)", "belong to several rows"),
      ("FROM long_value WHERE typeof(value) <> 'blob' OR tag IS NOT substr(value, 1, 1)", "are not stored as they are written"),
      ("FROM long_value WHERE id > \(last)", "have numbers that were not given"),
    ] {
      let count = try number("SELECT count(*) \(condition)")
      if count != 0 { report.note("\(count) long values \(words).") }
    }
  }

  private func number(_ sql: String) throws(StorageError) -> Int64 {
    try connection.texts(sql).first.flatMap { Int64($0) } ?? 0
  }
}
