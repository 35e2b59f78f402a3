internal import StorageCore
internal import TreeModel

/// One merge: rows of several runs, in the order of path and age, become rows of one.
final class HistoryMerge {
  /// Rows that are read ahead of each run.
  private static let aheadRows = 128
  /// Bytes after which no further row is read ahead.
  private static let aheadBytes = 256 << 10
  /// Bytes after which a step has enough.
  private static let stepBytes = 1 << 20

  /// A run with some of its rows read ahead.
  private struct Source {
    let generation: Int64
    var rows: [Row] = []
    var next = 0
    var isAtEnd = false
  }

  private struct Row {
    let path: [UInt8]
    let revision: Int64
    let before: [UInt8]
  }

  private let target: HistoryRunRow
  private let sourceRows: [HistoryRunRow]
  /// Oldest first: of one path the rows of an earlier run come first.
  private var sources: [Source]
  private let reading: SQLiteStatement
  private let writing: SQLiteStatement
  /// Where the target ended when this merge was taken up: every row of every source up to there is in it.
  private let border: (path: [UInt8], revision: Int64)
  /// How often rows of the history had been erased when this merge was taken up: what was read ahead is good until then.
  private let erasures: Int64?
  /// The rows of the step that is being written; kept when the writer was in the way.
  private var slice: [Row] = []
  /// Whether nothing comes behind those.
  private var isLast = false

  init(of sourceRows: [HistoryRunRow], into target: HistoryRunRow, on connection: SQLiteConnection) throws(StorageError) {
    self.target = target
    erasures = try connection.meta(.historyErasures)
    self.sourceRows = sourceRows
    sources = sourceRows.map { Source(generation: $0.run.generation) }
    reading = try SQLiteStatement(
      """
      SELECT path, revision, before FROM history WHERE ns = ? AND generation = ? AND (path, revision) > (?, ?)
      ORDER BY path, revision LIMIT \(Self.aheadRows)
      """, on: connection, isKept: true)
    writing = try SQLiteStatement(
      "INSERT INTO history (ns, generation, path, revision, before) VALUES (?, ?, ?, ?, ?)", on: connection, isKept: true)
    let last = try SQLiteStatement(
      "SELECT path, revision FROM history WHERE ns = ? AND generation = ? ORDER BY path DESC, revision DESC LIMIT 1",
      on: connection, isKept: false
    ).bind(target.ns).bind(target.run.generation).first { row throws(StorageError) in (path: row.bytes(0), revision: row.int(1))
    }
    border = last ?? (path: [], revision: -1)
  }

  /// Writes some rows; true when the new run is whole and stands in the place of the old ones.
  func step(rows: Int, on connection: SQLiteConnection) throws(StorageError) -> Bool {
    if slice.isEmpty {
      var bytes = 0
      isLast = false
      while !isLast, slice.count < rows, bytes < Self.stepBytes {
        guard let row = try next() else {
          isLast = true
          continue
        }
        bytes += row.path.count + row.before.count
        slice.append(row)
      }
    }
    let isWhole = isLast
    var isWanted = true
    let isDone = try connection.briefly { () throws(StorageError) in
      let isSame = try connection.meta(.historyErasures) == erasures
      isWanted = try connection.hasRun(target)
      isWanted = isWanted && isSame
      guard isWanted else { return true }
      for row in slice {
        try writing.bind(target.ns).bind(target.run.generation).bind(row.path).bind(row.revision).bind(row.before).run()
      }
      if isWhole { try exchange(on: connection) }
      return true
    }
    guard isDone == true else { return false }
    slice = []
    return isWhole || !isWanted
  }

  /// Lists the new run in the place of the old ones.
  private func exchange(on connection: SQLiteConnection) throws(StorageError) {
    let key = "ns = \(target.ns) AND generation"
    try connection.execute("UPDATE history_run SET state = 'whole' WHERE \(key) = \(target.run.generation)")
    for row in sourceRows {
      try connection.execute("UPDATE history_run SET state = 'retired' WHERE \(key) = \(row.run.generation)")
    }
  }

  /// The first of the rows that come next, by path and then by age.
  private func next() throws(StorageError) -> Row? {
    var first: Int?
    for index in sources.indices {
      if sources[index].next == sources[index].rows.count { try refill(index) }
      guard sources[index].next < sources[index].rows.count else { continue }
      guard let best = first else {
        first = index
        continue
      }
      if head(index).path.precedes(head(best).path) { first = index }
    }
    guard let first else { return nil }
    defer { sources[first].next += 1 }
    return head(first)
  }

  private func head(_ index: Int) -> Row { sources[index].rows[sources[index].next] }

  private func refill(_ index: Int) throws(StorageError) {
    guard !sources[index].isAtEnd else { return }
    let from = sources[index].rows.last.map { (path: $0.path, revision: $0.revision) } ?? border
    var bytes = 0
    let rows = try reading.bind(target.ns).bind(sources[index].generation).bind(from.path).bind(from.revision).all(
      until: { bytes >= Self.aheadBytes }
    ) { row throws(StorageError) in
      let row = Row(path: row.bytes(0), revision: row.int(1), before: row.bytes(2))
      bytes += row.path.count + row.before.count
      return row
    }
    sources[index].rows = rows
    sources[index].next = 0
    sources[index].isAtEnd = rows.count < Self.aheadRows && bytes < Self.aheadBytes
  }
}
