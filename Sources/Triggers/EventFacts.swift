import StorageCore
import TreeModel

/// An event in memory, shared by the functions that want it.
final class EventFacts: Sendable {
  /// What is known of the event's commit.
  struct Commit: Sendable {
    let time: Int64
    let actor: Actor
    /// What the commit changed, sorted by path; nil once the log has forgotten it.
    let changes: [LeafChange]?
  }

  let record: EventRecord
  let path: Path
  /// The event's id as text.
  let text: String
  /// The commit, as the writer handed it over; nil if it is to be read from the log when the event is run.
  let commit: Commit?

  init(record: EventRecord, path: Path, commit: Commit?) {
    self.record = record
    self.path = path
    self.commit = commit
    text = "\(record.id.epoch)-\(record.id.revision):\(path)"
  }

  var namespace: NamespaceID { record.namespace }
  var revision: Revision { record.id.revision }
}

extension [LeafChange] {
  /// The change of the leaf at exactly `path`; the changes are sorted by path.
  func change(at path: PathBytes) -> LeafChange? {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if self[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && self[low].path == path ? self[low] : nil
  }
}
