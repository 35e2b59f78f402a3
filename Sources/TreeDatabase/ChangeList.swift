import TreeModel

/// The changes of one request: of several changes of one leaf the first `before` and the last `after` count.
struct ChangeList {
  private var changes: [LeafChange] = []
  /// Where each path stands; nil as long as changes came in path order, as those of a single write do.
  private var positions: [PathBytes: Int]?
  private(set) var bytes = 0

  var count: Int { changes.count }

  mutating func append(_ change: LeafChange) {
    bytes += change.path.bytes.count + (change.after?.stringValue?.utf8.count ?? 8)
    if positions == nil {
      guard let last = changes.last, !(last.path < change.path) else {
        changes.append(change)
        return
      }
      positions = Dictionary(uniqueKeysWithValues: changes.enumerated().map { ($1.path, $0) })
    }
    if let position = positions?[change.path] {
      changes[position] = LeafChange(path: change.path, before: changes[position].before, after: change.after)
    } else {
      positions?[change.path] = changes.count
      changes.append(change)
    }
  }

  /// The changes in path order, without those that came back to where they were.
  func finished() -> [LeafChange] {
    guard positions != nil else { return changes }
    return changes.filter { $0.before != $0.after }.sorted { $0.path < $1.path }
  }
}
