extension SchemaMigration {
  /// From 1 to 2: the runs of the history are listed, so that they can be merged. Those that are there are whole, and each
  /// begins where the one before ends.
  static let historyRuns = SchemaMigration(
    from: 1,
    script: """
      CREATE TABLE history_run (
        ns BIGINT NOT NULL,
        generation BIGINT NOT NULL,           -- of history; from 2^62 on for a merged run
        after_revision BIGINT NOT NULL,       -- it holds the changes of later revisions than this one,
        last_revision BIGINT NOT NULL,        -- up to this one
        level BIGINT NOT NULL,                -- how often its rows were merged
        state TEXT NOT NULL,                  -- whole, growing, retired
        PRIMARY KEY (ns, generation)
      ) WITHOUT ROWID;
      INSERT INTO history_run (ns, generation, after_revision, last_revision, level, state)
      SELECT run.ns, run.generation,
        coalesce(lag(run.generation) OVER (PARTITION BY run.ns ORDER BY run.generation), 0), run.generation, 0, 'whole'
      FROM (SELECT DISTINCT ns, generation FROM history) AS run
      JOIN namespace ON namespace.id = run.ns
      WHERE run.generation <= namespace.history_revision;
      """)
}
