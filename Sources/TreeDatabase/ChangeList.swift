import StorageCore
import TreeModel

/// The changes of one request: of several changes of one leaf the first `before` and the last `after` count.
struct ChangeList {
  private var changes: [LeafChange] = []
  /// Where each path stands; nil as long as changes came in path order, as those of a single write do.
  private var positions: [PathBytes: Int]?
  /// Of which commit what stood there first was; nil where nothing did.
  private var origins: [Revision?] = []
  private(set) var bytes = 0
  /// Bytes of what is replaced or removed: a commit's record holds that, too.
  private(set) var bytesBefore = 0

  var count: Int { changes.count }

  /// - Parameter origin: the commit of what stood there.
  mutating func append(_ change: LeafChange, origin: Revision?) {
    bytes += change.path.bytes.count + (change.after?.stringValue?.utf8.count ?? 8)
    bytesBefore += change.before?.stringValue?.utf8.count ?? 8
    if positions == nil {
      guard let last = changes.last, !(last.path < change.path) else {
        changes.append(change)
        origins.append(origin)
        return
      }
      positions = Dictionary(uniqueKeysWithValues: changes.enumerated().map { ($1.path, $0) })
    }
    if let position = positions?[change.path] {
      changes[position] = LeafChange(path: change.path, before: changes[position].before, after: change.after)
    } else {
      positions?[change.path] = changes.count
      changes.append(change)
      origins.append(origin)
    }
  }

  /// What came back to where it was, and of which commit that is.
  func returned() -> [(path: PathBytes, scalar: Scalar, origin: Revision)] {
    guard positions != nil else { return [] }
    return zip(changes, origins).compactMap { change, origin in
      guard change.before == change.after, let scalar = change.before, let origin else { return nil }
      return (change.path, scalar, origin)
    }
  }

  /// The changes in path order, without those that came back to where they were.
  func finished() -> [LeafChange] {
    guard positions != nil else { return changes }
    return changes.filter { $0.before != $0.after }.sorted { $0.path < $1.path }
  }
}
