internal import StorageCore
internal import TextFormats

/// A PostgreSQL server that keeps the batches of one store, in a schema of its own.
///
/// The server decides who leads, orders the batches, keeps them and is backed up; what nodes have beside it can be thrown away.
public struct PostgresCell: Sendable {
  /// A connection string of libpq, with the hosts of all its servers.
  let url: String
  /// The schema's name, quoted.
  let schema: String
  /// Whether a batch may be durable on one machine alone: only where the server itself is kept on several (a managed one), and for
  /// trials.
  let allowsSingle: Bool
  private let order = HostOrder()

  /// - `schema`: lower-case letters, digits and underscores.
  public init(url: String, schema: String = "doubloon", allowsSingle: Bool = false) {
    precondition(Self.isName(schema), "A schema's name is lower-case letters, digits and underscores.")
    self.url = url
    self.schema = "\"\(schema)\""
    self.allowsSingle = allowsSingle
  }

  /// Whether a schema can have this name.
  public static func isName(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 95 }
  }

  func link() throws(StorageError) -> PostgresLink { try PostgresLink(url, order: order) }

  /// What is written into a batch is read by nodes that know this format; raised when it changes.
  static let format: Int64 = 1

  /// In the place of a format: the store is elsewhere.
  static let retired: Int64 = -1

  /// The column that says which node is to lead next; cells of the first version are given it when somebody asks for one.
  static let wanted = "wanted TEXT NOT NULL DEFAULT ''"

  /// The tables, for a cell that has none. Statements that can be run again.
  var creation: [PostgresLink.Statement] {
    [
      "CREATE SCHEMA IF NOT EXISTS \(schema)",
      // Who leads, and the last batch: one row that every batch updates in place.
      """
      CREATE TABLE IF NOT EXISTS \(schema).lease (
        one INT PRIMARY KEY CHECK (one = 1), fence BIGINT NOT NULL, batch BIGINT NOT NULL, node TEXT NOT NULL,
        address TEXT NOT NULL, is_clean SMALLINT NOT NULL, format BIGINT NOT NULL, secret BYTEA NOT NULL, \(Self.wanted)) WITH (fillfactor = 10)
      """,
      // Signs of life, one row for each node.
      """
      CREATE TABLE IF NOT EXISTS \(schema).beat (
        node TEXT PRIMARY KEY, beat BIGINT NOT NULL, address TEXT NOT NULL, version TEXT NOT NULL) WITH (fillfactor = 10)
      """,
      // Everything that happened since the last base: hash covers the hash before, the position and the digest of the changes.
      """
      CREATE TABLE IF NOT EXISTS \(schema).batch_log (
        batch BIGINT PRIMARY KEY, fence BIGINT NOT NULL, digest BYTEA NOT NULL, hash BYTEA NOT NULL, changes BYTEA NOT NULL)
      """,
      // Whole copies of the store, in parts; what a node begins with.
      """
      CREATE TABLE IF NOT EXISTS \(schema).base (
        batch BIGINT PRIMARY KEY, fence BIGINT NOT NULL, hash BYTEA NOT NULL, digest BYTEA NOT NULL, bytes BIGINT NOT NULL,
        schema_version BIGINT NOT NULL, upload BIGINT NOT NULL)
      """,
      """
      CREATE TABLE IF NOT EXISTS \(schema).base_part (
        upload BIGINT NOT NULL, part BIGINT NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (upload, part))
      """,
      // Runs of functions that were under way when a node's process died.
      "CREATE TABLE IF NOT EXISTS \(schema).crash_note (id BIGINT PRIMARY KEY, note BYTEA NOT NULL)",
      // Signing keys and the like, sealed with a key that PostgreSQL does not know.
      "CREATE TABLE IF NOT EXISTS \(schema).secret (name TEXT PRIMARY KEY, sealed BYTEA NOT NULL)",
    ].map { PostgresLink.Statement($0) } + guardTables.map { PostgresLink.Statement($0) }
  }

  /// The tables whose rows PostgreSQL has, too: its own keys refuse a second payment. As `schema.sql` describes them.
  private var guardTables: [String] {
    var statements: [String] = []
    for statement in SchemaScript.statements {
      let words = statement.split(whereSeparator: \.isWhitespace).map(String.init)
      guard words.count > 3 else { continue }
      let isTable = words[0] == "CREATE" && words[1] == "TABLE" && JournalRow.guardedTables.contains(words[2])
      let isIndex =
        words[0] == "CREATE" && words[1] == "UNIQUE" && words.count > 5 && JournalRow.guardedTables.contains(words[5])
      guard isTable || isIndex else { continue }
      var text = statement.replacing(" BLOB", with: " BYTEA").replacing("WITHOUT ROWID", with: "")
      text = text.replacing("CREATE TABLE ", with: "CREATE TABLE IF NOT EXISTS \(schema).")
      text = text.replacing("CREATE UNIQUE INDEX ", with: "CREATE UNIQUE INDEX IF NOT EXISTS ")
      if isIndex { text = text.replacing(" ON \(words[5])", with: " ON \(schema).\(words[5])") }
      statements.append(text)
    }
    precondition(statements.count == 4, "schema.sql has the tables and keys that guard payments.")
    return statements
  }

  /// Says no to a server that could acknowledge what one machine alone has.
  ///
  /// - Throws: `StorageError.Code.failed` with what is set, and what should be.
  func throwIfUnsafe(_ link: PostgresLink) throws(StorageError) {
    let row: PostgresLink.Row
    do throws(PostgresError) {
      row = try link.run(
        "SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_standby_names'), "
          + "current_setting('server_version_num')::int, current_setting('synchronous_commit')")[0]
    } catch {
      throw unavailable(error)
    }
    if row.integer(3) < 140_000 { throw StorageError(.failed, "This PostgreSQL is older than 14, which pipelines came with.") }
    for (index, setting) in ["fsync", "full_page_writes"].enumerated() where row.text(index) != "on" {
      throw StorageError(
        .failed, "PostgreSQL has \(setting) = \(row.text(index)): a power cut could take what was acknowledged. Set it to on.")
    }
    guard ["on", "remote_apply"].contains(row.text(4)) else {
      throw StorageError(
        .failed,
        "PostgreSQL has synchronous_commit = \(row.text(4)) although this program has set it to on: what stands between them does not "
          + "keep a connection's settings. Connect to PostgreSQL itself, or set it to on for the role.")
    }
    guard row.text(2).isEmpty, !allowsSingle else { return }
    throw StorageError(
      .failed,
      "PostgreSQL has no synchronous standby (synchronous_standby_names is empty): with its machine what was acknowledged would be "
        + "lost. Name standbys, such as ANY 1 (s1, s2); or say \"standbys\": \"managed\" where the server's disk is kept on several machines."
    )
  }

  /// What a failure of PostgreSQL means to who asked.
  func unavailable(_ error: PostgresError) -> StorageError {
    StorageError(.lost, "PostgreSQL did not do what it was asked for: \(error). The server tries again by itself.")
  }
}
