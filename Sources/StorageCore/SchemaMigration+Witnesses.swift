extension SchemaMigration {
  /// Version 5: what proves that rows are what was written.
  static let witnesses = SchemaMigration(
    from: 4,
    script: """
      -- The sum of the rows of a table, for each namespace (0: of the whole store): how many there are, and their digests. Tables
      -- that are made of others have none. What is about the schema itself stands under the name sqlite_schema.
      CREATE TABLE row_digest (
        ns BIGINT NOT NULL,
        name TEXT NOT NULL,
        row_count BIGINT NOT NULL,
        digest BLOB NOT NULL,                 -- the sum of the SHA-256 of the rows, modulo 2^256, the lowest byte first
        PRIMARY KEY (ns, name)
      ) WITHOUT ROWID;

      -- The audit log as a hash chain: the hash of a record covers the record and the hash before.
      CREATE TABLE audit_chain (
        id BIGINT NOT NULL PRIMARY KEY,       -- of audit
        hash BLOB NOT NULL
      ) WITHOUT ROWID;
      """)
}
