import StorageCore
import TreeModel

/// Begins the forgetting, on the writer: only if nothing stands at the places any more, and for everything that was committed
/// up to then.
final class ErasureOrdering: WriterDecision {
  private let record: ErasureRecord

  init(_ record: ErasureRecord) {
    self.record = record
  }

  func decide(in namespace: NamespaceID, at time: Int64, _ session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  {
    let (standing, head) = try refusing { () throws(StorageError) -> (Path?, NamespaceHead) in
      (try self.standing(in: namespace, session), try session.head(of: namespace))
    }
    if let standing { throw CommitRefusal(.stale(.absent), "Something stands at \(standing) again.") }
    var ordered = record
    // The commit of this request: it is marked, so there is one.
    let order = head.revision.next
    ordered.order = order
    ordered.state = .forgetting
    session.put(ordered.change, in: namespace)
    for change in ordered.placeChanges(order, at: time) { session.put(change, in: namespace) }
    return []
  }

  /// A place at which something stands; nil if nothing does at any.
  private func standing(in namespace: NamespaceID, _ session: any WriteSession) throws(StorageError) -> Path? {
    for path in record.places
    where try !session.leaves(in: namespace, under: PathBytes(path), limit: 1).isEmpty { return path }
    return nil
  }
}
