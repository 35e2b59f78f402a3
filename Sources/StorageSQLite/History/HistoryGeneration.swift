internal import StorageCore
internal import TreeModel

/// A sorted run of the history: the changes of some thousand consecutive commits, by path and revision.
///
/// Runs are added to the table one after the other, so that writing them costs no random page. A look-up pays with one seek
/// for each run after the revision it asks for; ``HistoryCompactor`` merges runs, so that there are never many.
final class HistoryGeneration: Sendable {
  struct Row {
    let path: PathBytes
    let revision: Int64
    let before: Scalar?
  }

  /// The last revision in it: its name in the table.
  let last: Int64
  private let changes: ChangeColumns
  private let places: [Int32]

  var count: Int { places.count }
  /// What it takes in memory, about.
  var bytes: Int { changes.bytes }

  init(_ changes: ChangeColumns, last: Int64) {
    self.last = last
    self.changes = changes
    places = changes.sortedPlaces()
  }

  /// The generation without the changes within a range up to a revision.
  func without(_ range: PathRange, through revision: Int64) -> HistoryGeneration {
    let rest = changes.without(range, through: revision)
    return rest.count == changes.count ? self : HistoryGeneration(rest, last: last)
  }

  func row(_ index: Int) -> Row {
    let place = Int(places[index])
    return Row(path: changes.path(place), revision: changes.revisions[place], before: changes.befores[place])
  }

  func forEachRow(
    after revision: Int64, through last: Int64, in range: PathRange, body: (PathBytes, Int64, Scalar?) -> Void
  ) {
    changes.withPaths { path in
      range.lower.withUnsafeBytes { lower in
        range.upper.withUnsafeBytes { upper in
          var index = places.lowerBound { path(Int($0)).precedes(lower) }
          while index < places.count, path(Int(places[index])).precedes(upper) {
            let found = changes.revisions[Int(places[index])]
            if found > revision, found <= last {
              let row = row(index)
              body(row.path, found, row.before)
            }
            index += 1
          }
        }
      }
    }
  }
}

/// Changes, oldest first, laid out by column: all paths in one piece of memory.
///
/// Looking for a path among recent changes goes through hundreds of them; as an array of arrays that would be hundreds of
/// reference counts, here it is one pass over bytes.
struct ChangeColumns {
  private(set) var revisions: [Int64] = []
  private(set) var befores: [Scalar?] = []
  private var pathBytes: [UInt8] = []
  /// Where each path ends in ``pathBytes``.
  private var ends: [Int] = []
  /// What the changes take in memory, about.
  private(set) var bytes = 0

  var count: Int { revisions.count }

  mutating func append(_ changes: [LeafChange], of revision: Int64) {
    for change in changes { append(change.path, revision, change.before) }
  }

  private mutating func append(_ path: PathBytes, _ revision: Int64, _ before: Scalar?) {
    revisions.append(revision)
    befores.append(before)
    pathBytes.append(contentsOf: path.bytes)
    ends.append(pathBytes.count)
    bytes += Self.ownBytes + path.bytes.count + (before?.stringValue?.utf8.count ?? 0)
  }

  /// What a change takes beyond its path and its text.
  private static let ownBytes = 48

  mutating func append(_ other: ChangeColumns) {
    let base = pathBytes.count
    revisions += other.revisions
    befores += other.befores
    pathBytes += other.pathBytes
    for end in other.ends { ends.append(base + end) }
    bytes += other.bytes
  }

  /// The changes that are not within a range, or of later revisions than `revision`.
  func without(_ range: PathRange, through revision: Int64) -> ChangeColumns {
    var isHit = false
    forEachChange(after: -1, through: revision, in: range) { _, _, _ in isHit = true }
    guard isHit else { return self }
    var rest = ChangeColumns()
    for index in 0..<count {
      let path = path(index)
      guard revisions[index] > revision || !range.contains(path) else { continue }
      rest.append(path, revisions[index], befores[index])
    }
    return rest
  }

  func path(_ index: Int) -> PathBytes {
    PathBytes(bytes: Array(pathBytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]))
  }

  /// Runs `body` with a way to read paths without copying them, which is good until `body` returns.
  func withPaths<Result>(_ body: ((Int) -> UnsafeRawBufferPointer) -> Result) -> Result {
    pathBytes.withUnsafeBytes { memory in
      ends.withUnsafeBufferPointer { ends in
        // Every end is at most the memory's size, and no end is smaller than the one before: `append` makes them so.
        body { index in
          let start = index == 0 ? 0 : ends[index - 1]
          return UnsafeRawBufferPointer(rebasing: memory[start..<ends[index]])
        }
      }
    }
  }

  /// Calls `body` with each change after `revision`, up to `last`, within a range of paths; oldest first.
  func forEachChange(
    after revision: Int64, through last: Int64, in range: PathRange, body: (PathBytes, Int64, Scalar?) -> Void
  ) {
    let first = revisions.lowerBound { $0 <= revision }
    let end = revisions.lowerBound { $0 <= last }
    guard first < end else { return }
    withPaths { path in
      range.lower.withUnsafeBytes { lower in
        range.upper.withUnsafeBytes { upper in
          for index in first..<end where !path(index).precedes(lower) && path(index).precedes(upper) {
            body(PathBytes(bytes: Array(path(index))), revisions[index], befores[index])
          }
        }
      }
    }
  }

  /// The places of the changes in the order of path and revision.
  func sortedPlaces() -> [Int32] {
    withPaths { path in
      (0..<Int32(count)).sorted { a, b in
        let order = path(Int(a)).order(path(Int(b)))
        // Of one path the older change comes first.
        return order == 0 ? a < b : order < 0
      }
    }
  }
}
