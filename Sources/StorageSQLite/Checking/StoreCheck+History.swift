internal import StorageCore
internal import TreeModel

extension StoreCheck {
  /// A run of the history, by its name.
  private struct Name: Hashable {
    let ns: Int64
    let generation: Int64
  }

  /// What the log says of the history.
  private struct Expected {
    /// The rows of each whole run.
    var sums: [Name: RowSetDigest] = [:]
    /// Places that an erasure took out of commits: their rows go a little later.
    var erased: [Int64: [Int64: [PathBytes]]] = [:]
  }

  /// Reads the log and compares the history with it: a whole run has just the values that its commits replaced.
  mutating func checkHistory() throws(StorageError) {
    let runs = try HistoryRunRow.all(on: connection)
    checkNames(runs)
    let expected = try readLog(runs)
    let states = Dictionary(runs.map { (Name(ns: $0.ns, generation: $0.run.generation), $0.state) }) { $1 }
    var found: [Name: RowSetDigest] = [:]
    let rows = try SQLiteStatement(
      "SELECT ns, generation, path, revision, before FROM history", on: connection, isKept: false)
    defer { rows.reset() }
    while try rows.step() {
      let name = Name(ns: rows.int(0), generation: rows.int(1))
      let revision = rows.int(3)
      // The past before the pruning is not read any more.
      guard revision > namespaces[name.ns]?.pruned ?? 0, states[name] != .retired else { continue }
      if let places = expected.erased[name.ns]?[revision] {
        let path = PathBytes(bytes: rows.bytes(2))
        if places.contains(where: { $0.contains(path) }) { continue }
      }
      if states[name] == .whole {
        try rows.value(4) { before throws(StorageError) in
          Self.row(rows.raw(2), revision: revision, before: before).withUnsafeBytes {
            found[name, default: RowSetDigest()].add($0)
          }
        }
      } else {
        try checkUnfinished(name, isGrowing: states[name] == .growing, row: rows)
      }
    }
    for (name, sum) in expected.sums {
      report.count(sum.count)
      if sum != found.removeValue(forKey: name) ?? RowSetDigest() { noteRun(name) }
    }
    for name in found.keys { noteRun(name) }
  }

  private mutating func noteRun(_ name: Name) {
    report.note("The history of namespace \(name.ns), run \(name.generation), is not what the log says.")
  }

  private mutating func checkNames(_ runs: [HistoryRunRow]) {
    for row in runs where row.state != .retired {
      let isMerged = row.run.generation >= HistoryRun.mergedNames
      let name = isMerged ? HistoryRun.mergedName(last: row.run.last, level: row.level) : row.run.last
      let begins =
        row.state == .whole || runs.contains { $0.ns == row.ns && $0.state == .whole && $0.run.after == row.run.after }
      if name != row.run.generation || isMerged != (row.level > 0) || !begins || row.run.after >= row.run.last {
        report.note("The list of runs of the history of namespace \(row.ns) is not what was written.")
      }
    }
  }

  /// A row of a run that is being written or merged: its commit must have replaced that value.
  private mutating func checkUnfinished(_ name: Name, isGrowing: Bool, row: SQLiteStatement) throws(StorageError) {
    let ns = NamespaceID(rawValue: name.ns)
    let isWritten = name.generation > namespaces[name.ns]?.history ?? 0 && name.generation < HistoryRun.mergedNames
    let changes = try isGrowing || isWritten ? connection.commit(ns, at: Revision(row.int(3)))?.changes : nil
    let before = try row.value(4) { bytes throws(StorageError) in Array(bytes) }
    let isKnown = changes?.contains { change in
      Self.before(change) == before && change.path.bytes == row.bytes(2)
    }
    if isKnown != true { noteRun(name) }
  }

  /// Every commit must be stored as it would be written: what reads the same need not be the same.
  private mutating func readLog(_ runs: [HistoryRunRow]) throws(StorageError) -> Expected {
    var expected = Expected()
    for (ns, past) in namespaces.sorted(by: { $0.key < $1.key }) {
      let whole = runs.filter { $0.ns == ns && $0.state == .whole && $0.run.last > past.pruned }
      var next = 0
      let rows = try SQLiteStatement(
        "SELECT \(SQL.commitColumns) FROM commit_log WHERE ns = \(ns) ORDER BY revision", on: connection, isKept: false)
      defer { rows.reset() }
      while try rows.step() {
        let revision = rows.int(1)
        let commit: CommitRecord
        do throws(StorageError) {
          commit = try connection.readCommit(rows)
        } catch {
          report.note("Commit \(revision) of namespace \(ns) cannot be read: \(error.message)")
          continue
        }
        try checkForm(of: commit, row: rows)
        if !commit.erased.isEmpty { expected.erased[ns, default: [:]][revision] = commit.erased.flatMap(\.paths) }
        while next < whole.count, whole[next].run.last < revision { next += 1 }
        guard revision > past.pruned, next < whole.count, whole[next].run.after < revision else { continue }
        let name = Name(ns: ns, generation: whole[next].run.generation)
        for change in commit.changes ?? [] {
          change.path.bytes.withUnsafeBytes { path in
            Self.before(change).withUnsafeBytes { before in
              Self.row(path, revision: revision, before: before).withUnsafeBytes {
                expected.sums[name, default: RowSetDigest()].add($0)
              }
            }
          }
        }
      }
    }
    return expected
  }

  private mutating func checkForm(of commit: CommitRecord, row: SQLiteStatement) throws(StorageError) {
    let changes = commit.changes.map { LeafChangeList.encode($0, without: commit.erased) }
    let isSame = try row.value(10) { bytes throws(StorageError) in (changes ?? []).elementsEqual(bytes) }
    let suppresses: Int64 = commit.suppressesTriggers ? 1 : 0
    if commit.cause?.storedBytes ?? [] != row.bytes(6) || !isSame || row.int(7) != suppresses {
      report.note("Commit \(commit.revision) of namespace \(commit.namespace.rawValue) is not stored as it was written.")
    }
  }

  private static func before(_ change: LeafChange) -> [UInt8] {
    var writer = ByteWriter(capacity: 16)
    writer.write(scalar: change.before)
    return writer.bytes
  }

  private static func row(_ path: UnsafeRawBufferPointer, revision: Int64, before: UnsafeRawBufferPointer) -> [UInt8] {
    var writer = ByteWriter(capacity: 64)
    writer.write(bytes: path)
    writer.write(signed: revision)
    writer.write(bytes: before)
    return writer.bytes
  }
}
