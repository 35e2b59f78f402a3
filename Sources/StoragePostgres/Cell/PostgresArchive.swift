internal import Crypto
public import StorageCore

/// What a cell keeps of its store: whole copies (bases), and every batch since. For one thread at a time.
public final class PostgresArchive {
  /// Bytes of a part of a base.
  static let partBytes = 1 << 20
  /// Bytes of batches that are read in one go, if there is more than one.
  private static let readBytes: Int64 = 16 << 20
  /// A whole copy of the store.
  public struct StoreBase: Sendable, Hashable {
    /// The last batch that it holds.
    public let position: JournalPosition
    /// That batch's place in the chain.
    public let hash: [UInt8]
    /// The version of its schema.
    public let schema: Int
    /// How large it is.
    public let bytes: Int64
    let upload: Int64
    let digest: [UInt8]
  }

  private let cell: PostgresCell
  private let link: PostgresLink
  private var random: any RandomNumberGenerator

  /// - `random`: makes up the names of uploads, which must differ.
  public init(_ cell: PostgresCell, random: any RandomNumberGenerator) throws(StorageError) {
    self.cell = cell
    self.random = random
    link = try cell.link()
  }

  /// Over the connection of a lease, so that both see the same server: one that was cut off may still answer, with what was.
  public init(beside lease: PostgresLease, random: any RandomNumberGenerator) {
    cell = lease.cell
    link = lease.link
    self.random = random
  }

  /// Ends what waits: from any thread.
  public func stop() { link.stop() }

  // MARK: Bases

  /// Makes the cell's tables, where there are none.
  public func prepare() throws(StorageError) {
    try run(cell.creation)
    // LZ4 takes half of the processor time that PostgreSQL's own compression takes of a batch, for a twentieth more of log.
    let hasLZ4 = "SELECT count(*) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)"
    guard try run([PostgresLink.Statement(hasLZ4)])[0].first?.integer(0) == 1 else { return }
    try run([
      PostgresLink.Statement("ALTER TABLE \(cell.schema).batch_log ALTER COLUMN changes SET COMPRESSION lz4"),
      PostgresLink.Statement("ALTER TABLE \(cell.schema).base_part ALTER COLUMN data SET COMPRESSION lz4"),
    ])
  }

  /// Brings rows that a first base holds into PostgreSQL's own tables.
  public func put(guarded rows: [JournalRow]) throws(StorageError) {
    try run(GuardedRows(cell.schema).statements(rows, unlessThere: true))
  }

  /// Makes the cell's tables, and its first base of a file.
  ///
  /// - `file`: a store that is made a working copy at batch 0 of fence 0.
  /// - Returns: false if the cell has a store already: then nothing was changed.
  public func create(from file: String, schema: Int) throws(StorageError) -> Bool {
    try prepare()
    let upload = try send(file)
    let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    let lease = PostgresLink.Statement(
      """
      INSERT INTO \(cell.schema).lease VALUES (1, 0, 0, '', '', 1, \(PostgresCell.format), $1)
      ON CONFLICT (one) DO NOTHING RETURNING 1
      """, .bytes(secret))
    let origin = JournalPosition(batch: 0, fence: 0)
    let base = cell.insertion(of: upload, at: origin, hash: Self.origin, schema: schema, isFirst: true)
    let isFirst = try run([lease, base])[0].first != nil
    if !isFirst { try remove(upload.id) }
    return isFirst
  }

  /// What the chain of batches begins with.
  public static let origin = [UInt8](repeating: 0, count: 32)

  /// Keeps a file as a base, if the batch that it ends with is in the log.
  ///
  /// - `keepingOlder`: whether the base before it stays, with the batches since: a node that is reading it may end. Not after an erasure.
  /// - `fence`: the term's. What is older is removed by a node that leads, and by no other.
  /// - Returns: whether it is kept, or a newer one is.
  public func add(_ file: String, at position: JournalPosition, schema: Int, keepingOlder: Bool, in fence: Int64)
    throws(StorageError) -> Bool
  {
    guard let hash = try hash(at: position) else { return false }
    let upload = try send(file)
    try run([cell.insertion(of: upload, at: position, hash: hash, schema: schema)])
    guard let newest = try newestBase(), newest.position.batch >= position.batch else { return false }
    try prune(keeping: keepingOlder ? 2 : 1, in: fence)
    return true
  }

  /// The newest base.
  public func newestBase() throws(StorageError) -> StoreBase? {
    let rows = try run([
      PostgresLink.Statement(
        "SELECT batch, fence, hash, schema_version, bytes, upload, digest FROM \(cell.schema).base ORDER BY batch DESC LIMIT 1")
    ])[0]
    return rows.first.map { row in
      StoreBase(
        position: JournalPosition(batch: row.integer(0), fence: row.integer(1)), hash: row.bytes(2),
        schema: Int(row.integer(3)),
        bytes: row.integer(4), upload: row.integer(5), digest: row.bytes(6))
    }
  }

  /// Writes a base into a file.
  ///
  /// - Throws: `StorageError.Code.damaged` if it was removed meanwhile; `StorageError.Code.failed` if it is not what was kept.
  public func download(_ base: StoreBase, to path: String) throws(StorageError) {
    let file = try PartFile(creating: path)
    defer { file.close() }
    var hash = SHA256()
    var (part, bytes): (Int64, Int64) = (0, 0)
    while bytes < base.bytes {
      let rows = try run([
        PostgresLink.Statement(
          "SELECT data FROM \(cell.schema).base_part WHERE upload = $1 AND part = $2", .integer(base.upload), .integer(part))
      ])[0]
      guard let data = rows.first?.bytes(0), !data.isEmpty else {
        throw StorageError(.damaged, "The base of batch \(base.position.batch) in PostgreSQL lacks part \(part).")
      }
      try file.write(data)
      hash.update(data: data)
      part += 1
      bytes += Int64(data.count)
    }
    guard Array(hash.finalize()) == base.digest else {
      throw StorageError(
        .failed,
        "The base of batch \(base.position.batch) in PostgreSQL is not what was kept: it is damaged, or was changed. Restore PostgreSQL."
      )
    }
  }

  /// A file whose parts are there; no base yet, until a row names it.
  public struct Upload: Sendable {
    let id: Int64
    let parts: Int64
    let bytes: Int64
    let digest: [UInt8]
  }

  /// Brings a file's parts there, each in a transaction of its own.
  public func send(_ path: String) throws(StorageError) -> Upload {
    let file = try PartFile(reading: path)
    defer { file.close() }
    let id = Int64.random(in: 1...Int64.max, using: &random)
    var hash = SHA256()
    var (part, bytes): (Int64, Int64) = (0, 0)
    do throws(StorageError) {
      while let data = try file.read(Self.partBytes) {
        hash.update(data: data)
        try run([
          PostgresLink.Statement(
            "INSERT INTO \(cell.schema).base_part VALUES ($1, $2, $3)", .integer(id), .integer(part), .bytes(data))
        ])
        part += 1
        bytes += Int64(data.count)
      }
    } catch {
      // A server that was full would become fuller with each attempt. What cannot be removed now goes when bases are pruned.
      try? remove(id)
      throw error
    }
    return Upload(id: id, parts: part, bytes: bytes, digest: Array(hash.finalize()))
  }

  private func remove(_ upload: Int64) throws(StorageError) {
    try run([PostgresLink.Statement("DELETE FROM \(cell.schema).base_part WHERE upload = $1", .integer(upload))])
  }

  /// Removes older bases, and the batches that every base that is kept holds.
  ///
  /// - `bases`: how many stay.
  /// - `fence`: the term's; in another nothing is removed.
  public func prune(keeping bases: Int, in fence: Int64) throws(StorageError) {
    let leads = "EXISTS (SELECT 1 FROM \(cell.schema).lease WHERE fence = $1)"
    let kept = "(SELECT batch FROM \(cell.schema).base ORDER BY batch DESC LIMIT \(bases))"
    try run([
      PostgresLink.Statement("DELETE FROM \(cell.schema).base WHERE batch NOT IN \(kept) AND \(leads)", .integer(fence)),
      PostgresLink.Statement(
        "DELETE FROM \(cell.schema).base_part WHERE upload NOT IN (SELECT upload FROM \(cell.schema).base) AND \(leads)",
        .integer(fence)),
      // The last batch of a base stays: who holds it compares it.
      PostgresLink.Statement(
        "DELETE FROM \(cell.schema).batch_log WHERE batch < (SELECT min(batch) FROM \(cell.schema).base) AND \(leads)",
        .integer(fence)),
    ])
  }

  // MARK: Batches

  /// The place in the chain of a batch; nil if the log has no such batch, or that of another term.
  public func hash(at position: JournalPosition) throws(StorageError) -> [UInt8]? {
    let rows = try run([
      PostgresLink.Statement(
        """
        SELECT hash FROM \(cell.schema).batch_log WHERE batch = $1 AND fence = $2
        UNION ALL SELECT hash FROM \(cell.schema).base WHERE batch = $1 AND fence = $2 LIMIT 1
        """, .integer(position.batch), .integer(position.fence))
    ])[0]
    return rows.first?.bytes(0)
  }

  /// The batches behind one, as far as they fit into memory.
  ///
  /// - `hash`: of the batch at `position`; becomes that of the last one returned.
  /// - Throws: `StorageError.Code.damaged` where the log has a gap, because a base is newer; `StorageError.Code.failed` where the chain
  ///   does not hold.
  public func batches(after position: JournalPosition, hash: inout [UInt8]) throws(StorageError) -> [JournalBatch] {
    let rows = try run([
      PostgresLink.Statement(
        """
        SELECT batch, fence, digest, hash, changes FROM (
          SELECT *, sum(length(changes)) OVER (ORDER BY batch) - length(changes) AS before FROM (
            SELECT * FROM \(cell.schema).batch_log WHERE batch > $1 ORDER BY batch LIMIT 500) AS log) AS sized
        WHERE before < \(Self.readBytes) ORDER BY batch
        """, .integer(position.batch))
    ])[0]
    var batches: [JournalBatch] = []
    var last = position
    for row in rows {
      let found = JournalPosition(batch: row.integer(0), fence: row.integer(1))
      let (digest, changes) = (row.bytes(2), row.bytes(4))
      guard found.batch == last.batch + 1 else {
        throw StorageError(.damaged, "The log in PostgreSQL goes on with batch \(found.batch) behind batch \(last.batch).")
      }
      hash = PostgresJournal.hash(after: hash, found, digest: digest)
      guard found.fence >= last.fence, Array(SHA256.hash(data: changes)) == digest, row.bytes(3) == hash else {
        throw StorageError(
          .failed,
          "Batch \(found.batch) in PostgreSQL is not what was written: its log is damaged, or was changed. Restore PostgreSQL, and keep "
            + "the working copies of all nodes until then.")
      }
      batches.append(JournalBatch(position: found, changes: changes, guarded: []))
      last = found
    }
    return batches
  }

  /// How many bytes of batches lie behind the newest base.
  public func bytesBehindBase() throws(StorageError) -> Int64 {
    try run([
      PostgresLink.Statement(
        """
        SELECT coalesce(sum(length(changes)), 0)::bigint FROM \(cell.schema).batch_log
        WHERE batch > (SELECT max(batch) FROM \(cell.schema).base)
        """)
    ])[0].first?.integer(0) ?? 0
  }

  // MARK: Secrets

  /// The sealed secrets, by name.
  public func secrets() throws(StorageError) -> [String: [UInt8]] {
    let rows = try run([PostgresLink.Statement("SELECT name, sealed FROM \(cell.schema).secret")])[0]
    return Dictionary(rows.map { ($0.text(0), $0.bytes(1)) }) { $1 }
  }

  /// Keeps the secrets, and no others; only while the lease has this fence.
  public func keep(_ secrets: [String: [UInt8]], fence: Int64) throws(StorageError) {
    let held = "EXISTS (SELECT 1 FROM \(cell.schema).lease WHERE fence = \(fence))"
    try run(
      [PostgresLink.Statement("DELETE FROM \(cell.schema).secret WHERE \(held)")]
        + secrets.sorted { $0.key < $1.key }.map { name, sealed in
          PostgresLink.Statement(
            "INSERT INTO \(cell.schema).secret SELECT $1, $2 WHERE \(held)", .text(name), .bytes(sealed))
        })
  }

  // MARK: Notes of processes that died

  /// Keeps notes for the node that leads next.
  public func leave(_ notes: [[UInt8]]) throws(StorageError) {
    guard !notes.isEmpty else { return }
    var statements: [PostgresLink.Statement] = []
    for note in notes {
      let id = Int64.random(in: 1...Int64.max, using: &random)
      statements.append(
        PostgresLink.Statement("INSERT INTO \(cell.schema).crash_note VALUES ($1, $2)", .integer(id), .bytes(note)))
    }
    try run(statements)
  }

  /// Gives what nodes have left to `body`, and forgets it when that has returned: what it was given twice it must bear.
  public func collect(_ body: ([[UInt8]]) throws(StorageError) -> Void) throws(StorageError) {
    let rows = try run([PostgresLink.Statement("SELECT id, note FROM \(cell.schema).crash_note ORDER BY id LIMIT 64")])[0]
    guard !rows.isEmpty else { return }
    try body(rows.map { $0.bytes(1) })
    try run(rows.map { PostgresLink.Statement("DELETE FROM \(cell.schema).crash_note WHERE id = $1", .integer($0.integer(0))) })
  }

  @discardableResult
  private func run(_ statements: [PostgresLink.Statement]) throws(StorageError) -> [[PostgresLink.Row]] {
    do throws(PostgresError) {
      return try link.run(statements, timeout: 60_000)
    } catch {
      throw cell.unavailable(error)
    }
  }
}

extension PostgresCell {
  /// Makes an upload a base, which counts when all its parts are there.
  func insertion(
    of upload: PostgresArchive.Upload, at position: JournalPosition, hash: [UInt8], schema version: Int, isFirst: Bool = false
  ) -> PostgresLink.Statement {
    let whole = "(SELECT count(*) FROM \(schema).base_part WHERE upload = $7) = \(upload.parts)"
    let condition = isFirst ? "\(whole) AND NOT EXISTS (SELECT 1 FROM \(schema).base)" : whole
    return PostgresLink.Statement(
      """
      INSERT INTO \(schema).base (batch, fence, hash, digest, bytes, schema_version, upload)
      SELECT $1, $2, $3, $4, $5, $6, $7 WHERE \(condition) ON CONFLICT (batch) DO NOTHING
      """, .integer(position.batch), .integer(position.fence), .bytes(hash), .bytes(upload.digest), .integer(upload.bytes),
      .integer(Int64(version)), .integer(upload.id))
  }
}
