extension SchemaMigration {
  /// From 3 to 4: sessions know the second factor that was shown.
  static let secondFactors = SchemaMigration(
    from: 3,
    script: """
      ALTER TABLE refresh_token RENAME TO refresh_token_3;
      DROP INDEX refresh_token_account;
      CREATE TABLE refresh_token (
        ns BIGINT NOT NULL,
        hash BLOB NOT NULL,
        uid TEXT NOT NULL,
        provider TEXT NOT NULL,               -- how the player signed in
        claims TEXT,                          -- of the custom token, as JSON
        auth_time BIGINT NOT NULL,            -- seconds since 1970
        issued_at BIGINT NOT NULL,
        second_factor TEXT,                   -- the one that was shown: totp/ID, phone/ID
        PRIMARY KEY (ns, hash)
      ) WITHOUT ROWID;
      INSERT INTO refresh_token (ns, hash, uid, provider, claims, auth_time, issued_at)
        SELECT ns, hash, uid, provider, claims, auth_time, issued_at FROM refresh_token_3;
      DROP TABLE refresh_token_3;
      CREATE INDEX refresh_token_account ON refresh_token (ns, uid);
      """)
}
