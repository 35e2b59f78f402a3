extension SchemaMigration {
  /// Version 2: replays, invocations by hand, and checkpoints of the log.
  static let upkeep = """
    CREATE TABLE replay (
      ns BIGINT NOT NULL,
      id BIGINT NOT NULL,
      state TEXT NOT NULL,                  -- running, paused, done, cancelled, failed
      orders TEXT NOT NULL,                 -- what was asked for, by whom, and why
      progress TEXT NOT NULL,               -- where it stands, and its counts
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (ns, id)
    ) WITHOUT ROWID;

    -- The events and functions that a replay gave to the dispatcher; what became of them is in execution and delivery.
    CREATE TABLE replay_item (
      ns BIGINT NOT NULL,
      replay BIGINT NOT NULL,
      epoch BIGINT NOT NULL,
      revision BIGINT NOT NULL,
      path BLOB NOT NULL,
      function TEXT NOT NULL,
      PRIMARY KEY (ns, replay, epoch, revision, path, function)
    ) WITHOUT ROWID;

    -- Functions that were run by hand on an event that never happened: event 0-ID:PATH of the execution.
    CREATE TABLE invocation (
      ns BIGINT NOT NULL,
      id BIGINT NOT NULL,
      function TEXT NOT NULL,
      path BLOB NOT NULL,
      before TEXT NOT NULL,                 -- JSON
      after TEXT NOT NULL,                  -- JSON
      acting_as TEXT NOT NULL,              -- the actor that the function saw
      actor TEXT NOT NULL,                  -- who invoked it
      reason TEXT NOT NULL,
      time BIGINT NOT NULL,
      PRIMARY KEY (ns, id)
    ) WITHOUT ROWID;

    -- Where the log was pruned: the chain up to here, and the tree of this revision, which a rebuild begins with.
    CREATE TABLE checkpoint (
      ns BIGINT NOT NULL,
      revision BIGINT NOT NULL,
      commit_time BIGINT NOT NULL,          -- of the commit of this revision
      commit_hash BLOB NOT NULL,            -- of the commit of this revision
      tree_hash BLOB NOT NULL,              -- SHA-256 over the leaves
      leaves BIGINT NOT NULL,
      actor TEXT NOT NULL,
      reason TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (ns, revision)
    ) WITHOUT ROWID;

    -- The leaves of the last checkpoint, as in node.
    CREATE TABLE checkpoint_leaf (
      ns BIGINT NOT NULL,
      revision BIGINT NOT NULL,
      path BLOB NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY (ns, revision, path)
    ) WITHOUT ROWID;
    """
}
