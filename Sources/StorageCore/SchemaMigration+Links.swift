extension SchemaMigration {
  /// Version 3: links and invitations.
  static let links = """
    CREATE TABLE room_record (
      ns BIGINT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (ns, kind, key)
    ) WITHOUT ROWID;

    CREATE TABLE link_count (
      ns BIGINT NOT NULL,
      link TEXT NOT NULL,
      day BIGINT NOT NULL,
      platform TEXT NOT NULL,
      event TEXT NOT NULL,
      count BIGINT NOT NULL,
      PRIMARY KEY (ns, link, day, platform, event)
    ) WITHOUT ROWID;
    """
}
