extension SchemaMigration {
  /// Version 3: attempts that failed are kept.
  static let attempts = """
    CREATE TABLE failed_attempt (
      ns BIGINT NOT NULL,
      epoch BIGINT NOT NULL,
      revision BIGINT NOT NULL,
      path BLOB NOT NULL,
      function TEXT NOT NULL,
      finished_at BIGINT NOT NULL,
      attempt BIGINT NOT NULL,              -- counted anew after a replay
      started_at BIGINT,                    -- NULL: the process died in it
      error TEXT NOT NULL,
      settings TEXT,
      PRIMARY KEY (ns, epoch, revision, path, function, finished_at, attempt)
    ) WITHOUT ROWID;
    """
}
