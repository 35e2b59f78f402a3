public import StorageCore
internal import Synchronization

/// A node's dealings with the lease: looks, takes, gives back, and shows that the node lives. For one thread at a time.
public final class PostgresLease {
  /// A leading node whose beat stands still for so long, by the clock of who looks, may be followed by another, in milliseconds.
  public static let patience: Int64 = 5000
  /// A leading node that has had no answer to a beat for so long neither reads nor judges, in milliseconds: well before another leads.
  public static let validity: Int64 = 4000
  /// How often a node shows that it lives, in milliseconds.
  public static let beatInterval: Int64 = 1000

  let cell: PostgresCell
  let link: PostgresLink
  private let node: String
  private var watch = LeaseWatch()

  /// - `node`: the name of this node, which no other has.
  public init(_ cell: PostgresCell, node: String) throws(StorageError) {
    self.cell = cell
    self.node = node
    link = try cell.link()
  }

  /// Ends what waits: from any thread.
  public func stop() { link.stop() }

  /// Says no to a server that could acknowledge alone.
  public func throwIfUnsafe() throws(StorageError) { try cell.throwIfUnsafe(link) }

  /// Who leads; nil in a cell that holds no store yet.
  public func look() throws(StorageError) -> LeaseView? {
    let asked = MonotonicTime.now()
    do throws(PostgresError) {
      let rows = try link.run(
        """
        SELECT l.fence, l.batch, l.node, l.address, l.is_clean, coalesce(b.beat, 0), l.format, l.secret, \(Self.wanted)
        FROM \(cell.schema).lease l LEFT JOIN \(cell.schema).beat b ON b.node = l.node
        """)
      guard let row = rows.first else { return nil }
      if row.integer(6) == PostgresCell.retired { throw PostgresError(state: "retired", message: "") }
      guard row.integer(6) <= PostgresCell.format else {
        throw PostgresError(state: "format", message: "\(row.integer(6))")
      }
      return LeaseView(
        fence: row.integer(0), batch: row.integer(1), node: row.text(2), address: row.text(3), isClean: row.integer(4) != 0,
        beat: row.integer(5), secret: row.bytes(7), wanted: row.text(8).isEmpty ? nil : row.text(8),
        time: asked...max(asked, MonotonicTime.now()))
    } catch {
      // While PostgreSQL answers nobody, the node that leads cannot show that it lives either.
      watch = LeaseWatch()
      // The schema, or the table.
      if error.state == "3F000" || error.state == "42P01" { return nil }
      if error.state == "format" {
        throw StorageError(
          .newerSchema,
          "The store in PostgreSQL has batches of format \(error.message), which this program cannot read. Use a newer one.")
      }
      if error.state == "retired" {
        throw StorageError(.unsuitable, "The store was moved out of this PostgreSQL: no node leads it here any more.")
      }
      throw cell.unavailable(error)
    }
  }

  /// The nodes' signs of life: a number that changes, where each is reached, the program's version.
  public func nodes() throws(StorageError) -> [String: NodeWatch.Beat] {
    do throws(PostgresError) {
      let rows = try link.run("SELECT node, beat, address, version FROM \(cell.schema).beat")
      return Dictionary(rows.map { ($0.text(0), ($0.integer(1), $0.text(2), $0.text(3))) }) { $1 }
    } catch {
      throw cell.unavailable(error)
    }
  }

  /// Takes a node from the list of those that are looked after: it has ended in order, or will not come back. One that lives is listed
  /// again at its next beat.
  ///
  /// - Returns: false if it is not listed.
  @discardableResult
  public func forget(_ node: String) throws(StorageError) -> Bool {
    do throws(PostgresError) {
      let rows = try link.run(
        [PostgresLink.Statement("DELETE FROM \(cell.schema).beat WHERE node = $1 RETURNING 1", .text(node))], timeout: 1000)
      return !rows[0].isEmpty
    } catch {
      throw cell.unavailable(error)
    }
  }

  /// Says that the store is elsewhere from now on: no node takes the lease any more.
  public func retire(fence: Int64) throws(StorageError) {
    do throws(PostgresError) {
      _ = try link.run(
        "UPDATE \(cell.schema).lease SET format = \(PostgresCell.retired), is_clean = 1 WHERE fence = $1", .integer(fence))
    } catch {
      throw cell.unavailable(error)
    }
  }

  /// Which node is to lead next, as text. A cell that was made by an earlier version has no such column before somebody asks for one.
  private static let wanted = "coalesce(to_json(l) ->> 'wanted', '')"

  /// Asks for a node to lead: the one that leads gives the lease back, and the others leave it to that node for a moment.
  ///
  /// - Parameter node: nil: none is asked for any more.
  public func want(_ node: String?) throws(StorageError) {
    do throws(PostgresError) {
      let hasColumn =
        try link.run("SELECT 1 FROM \(cell.schema).lease l WHERE to_json(l) ->> 'wanted' IS NOT NULL").first != nil
      if !hasColumn {
        // A lock on the table that somebody else holds, a dump perhaps, holds this up, and this would hold up every batch.
        _ = try link.run(
          [
            PostgresLink.Statement("SELECT set_config('lock_timeout', '500', true)"),
            PostgresLink.Statement("ALTER TABLE \(cell.schema).lease ADD COLUMN IF NOT EXISTS \(PostgresCell.wanted)"),
          ])
      }
      _ = try link.run("UPDATE \(cell.schema).lease SET wanted = $1", .text(node ?? ""))
    } catch {
      guard error.state != PostgresError.lockTimeout else {
        throw StorageError(
          .failed,
          "Somebody holds the lease's table in PostgreSQL, a dump perhaps. Nothing was changed; try again when that has ended.")
      }
      throw cell.unavailable(error)
    }
  }

  /// Whether this node may lead next.
  public func mayTake(_ view: LeaseView) -> Bool { watch.mayTake(view, node: node) }

  /// Takes the lease from who has it.
  ///
  /// - `terms`: by how much the fence grows. More than one where PostgreSQL may have been brought back to an earlier moment: terms
  ///   that were lost by it have numbers, too, and copies may know them.
  /// - Returns: the new term's fence and the last batch; nil if another was faster.
  public func take(_ view: LeaseView, address: String, terms: Int64 = 1) throws(StorageError) -> JournalPosition? {
    // What was asked for has come, or cannot come: no beat of the new term tells of it.
    let satisfied = view.wanted == nil ? "" : ", wanted = ''"
    do throws(PostgresError) {
      let rows = try link.run(
        """
        UPDATE \(cell.schema).lease SET fence = fence + $4, node = $2, address = $3, is_clean = 0\(satisfied)
        WHERE fence = $1 RETURNING fence, batch
        """, .integer(view.fence), .text(node), .text(address), .integer(terms))
      return rows.first.map { JournalPosition(batch: $0.integer(1), fence: $0.integer(0)) }
    } catch {
      // Perhaps it was taken: the next look finds this node's name, and takes it again.
      throw cell.unavailable(error)
    }
  }

  /// Gives the lease back, so that another may lead at once.
  public func release(fence: Int64) throws(StorageError) {
    do throws(PostgresError) {
      _ = try link.run("UPDATE \(cell.schema).lease SET is_clean = 1 WHERE fence = $1", .integer(fence))
    } catch {
      throw cell.unavailable(error)
    }
  }

  /// Shows that the node lives.
  ///
  /// - Returns: the fence that the lease has, and which node is to lead next; nil where nobody asked for one.
  public func beat(address: String, version: String) throws(StorageError) -> (fence: Int64, wanted: String?) {
    do throws(PostgresError) {
      let rows = try link.run(
        [
          PostgresLink.Statement(
            """
            INSERT INTO \(cell.schema).beat VALUES ($1, 1, $2, $3)
            ON CONFLICT (node) DO UPDATE SET beat = beat.beat + 1, address = $2, version = $3
            """, .text(node), .text(address), .text(version)),
          PostgresLink.Statement("SELECT fence, \(Self.wanted) FROM \(cell.schema).lease l"),
        ], timeout: Int(Self.validity))
      guard let row = rows[1].first else { return (0, nil) }
      return (row.integer(0), row.text(1).isEmpty ? nil : row.text(1))
    } catch {
      throw cell.unavailable(error)
    }
  }
}
