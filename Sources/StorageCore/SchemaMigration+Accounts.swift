extension SchemaMigration {
  /// Version 3: accounts, what leads to them, their sessions and codes.
  static let accounts = """
    -- A player's account. What functions may know of it stands in node too, behind the tree, where events come from.
    CREATE TABLE account (
      ns BIGINT NOT NULL,
      uid TEXT NOT NULL,
      is_anonymous SMALLINT NOT NULL,
      used_at BIGINT NOT NULL,              -- the last sign-in or refresh
      password TEXT,                        -- a hash with its algorithm, salt and costs
      record TEXT NOT NULL,                 -- JSON
      PRIMARY KEY (ns, uid)
    ) WITHOUT ROWID;
    CREATE INDEX account_unused ON account (ns, used_at) WHERE is_anonymous = 1;

    -- What leads to one account only: an address, a number, an identity at a provider.
    CREATE TABLE account_identifier (
      ns BIGINT NOT NULL,
      kind TEXT NOT NULL,                   -- email, phone, or the provider's name
      value TEXT NOT NULL,
      uid TEXT NOT NULL,
      PRIMARY KEY (ns, kind, value)
    ) WITHOUT ROWID;

    -- Sessions. Of the token itself only its SHA-256 is kept.
    CREATE TABLE refresh_token (
      ns BIGINT NOT NULL,
      hash BLOB NOT NULL,
      uid TEXT NOT NULL,
      provider TEXT NOT NULL,               -- how the player signed in
      claims TEXT,                          -- of the custom token, as JSON
      auth_time BIGINT NOT NULL,            -- seconds since 1970
      issued_at BIGINT NOT NULL,
      PRIMARY KEY (ns, hash)
    ) WITHOUT ROWID;
    CREATE INDEX refresh_token_account ON refresh_token (ns, uid);

    -- Codes that were sent by mail, for one use each; only their SHA-256 is kept.
    CREATE TABLE account_code (
      ns BIGINT NOT NULL,
      hash BLOB NOT NULL,
      kind TEXT NOT NULL,
      email TEXT NOT NULL,
      new_email TEXT,
      uid TEXT,
      expires_at BIGINT NOT NULL,
      PRIMARY KEY (ns, hash)
    ) WITHOUT ROWID;

    -- Tokens that are void though their time is not over; kept until it is.
    CREATE TABLE account_revocation (
      ns BIGINT NOT NULL,
      uid TEXT NOT NULL,
      reason TEXT NOT NULL,                 -- revoked, disabled, deleted
      not_before BIGINT NOT NULL,           -- seconds since 1970: of tokens that are still good
      effective_at BIGINT NOT NULL,
      PRIMARY KEY (ns, uid)
    ) WITHOUT ROWID;

    -- What is set about a namespace's accounts.
    CREATE TABLE account_settings (
      ns BIGINT NOT NULL PRIMARY KEY,
      settings TEXT NOT NULL                -- JSON
    ) WITHOUT ROWID;
    """
}
