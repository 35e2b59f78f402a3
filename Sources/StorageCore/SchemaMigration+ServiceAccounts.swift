extension SchemaMigration {
  /// Version 3: service accounts.
  static let serviceAccounts = """
    -- The service accounts that administrators and their programs sign in as; of the server, not of a namespace.
    CREATE TABLE service_account (
      key_id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      email TEXT NOT NULL,
      role TEXT NOT NULL,                   -- viewer, support, admin
      public_key TEXT NOT NULL,             -- PEM; the private half is in the file that was handed out, and nowhere else
      token_uri TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      created_by TEXT NOT NULL,
      revoked_at BIGINT                     -- NULL while it is good
    ) WITHOUT ROWID;
    """
}
