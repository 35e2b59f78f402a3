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
    after revision: Int64, through last: Int64, in range: PathRange, _ body: (PathBytes, Int64, Scalar?) -> Void
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
