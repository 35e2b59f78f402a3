extension SchemaMigration {
  /// Version 3: links and invitations.
  static let links = """
    -- Records of rooms that look theirs up by name only: links, their codes, who claimed what, settings, invitations,
    -- suppressed addresses. The values are JSON.
    CREATE TABLE room_record (
      ns BIGINT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (ns, kind, key)
    ) WITHOUT ROWID;

    -- How often links were opened, and what came of it. Added to every few seconds, not at each opening.
    CREATE TABLE link_count (
      ns BIGINT NOT NULL,
      link TEXT NOT NULL,                   -- prefix and suffix: go.acme.test/r/aB3x
      day BIGINT NOT NULL,                  -- since 1970, UTC
      platform TEXT NOT NULL,               -- ANDROID, IOS, DESKTOP, OTHER
      event TEXT NOT NULL,                  -- CLICK, REDIRECT, APP_INSTALL, APP_FIRST_OPEN, APP_RE_OPEN
      count BIGINT NOT NULL,
      PRIMARY KEY (ns, link, day, platform, event)
    ) WITHOUT ROWID;
    """
}
