import StorageCore
import TreeModel

/// An event as it was found in storage, with what became of it so far.
struct LoadedEvent: Sendable {
  let facts: EventFacts
  /// The change of the leaf at exactly the event's path.
  let change: LeafChange?
  /// The revision whose event's function wrote the commit.
  let parent: Revision?
  /// The functions that have handled it, or have a delivery record for it.
  let known: Set<String>

  /// Reads one event, with the functions that have handled it, and with its delivery records; nil if there is none.
  static func one(_ id: EventID, in namespace: NamespaceID, from snapshot: any Snapshot) throws(StorageError)
    -> (event: LoadedEvent, deliveries: [DeliveryRecord])?
  {
    guard let record = try snapshot.event(in: namespace, id: id), let path = id.path.path else { return nil }
    let commit = try snapshot.commit(in: namespace, at: id.revision)
    let event = LoadedEvent(
      facts: EventFacts(record: record, path: path, commit: nil), change: commit?.changes?.change(at: id.path),
      parent: commit?.cause?.parent,
      known: Set(try snapshot.executions(in: namespace, of: id).map(\.function)))
    return (event, try snapshot.deliveries(in: namespace, of: id))
  }

  /// Reads a page of a namespace's events.
  static func page(
    of namespace: NamespaceID, after position: EventPosition, limit: Int, from snapshot: any Snapshot
  ) throws(StorageError) -> [LoadedEvent] {
    var page: [LoadedEvent] = []
    var commit: CommitRecord?
    for event in try snapshot.events(in: namespace, after: position, limit: limit) {
      guard let path = event.id.path.path else {
        throw StorageError(.damaged, "The path of event \(event.id) cannot be read; verify the data, or restore a backup.")
      }
      if commit?.revision != event.id.revision { commit = try snapshot.commit(in: namespace, at: event.id.revision) }
      let executions = try snapshot.executions(in: namespace, of: event.id).map(\.function)
      let deliveries = try snapshot.deliveries(in: namespace, of: event.id).map(\.function)
      page.append(
        LoadedEvent(
          // The commit is read again when the event is run: a page of large commits must not fill the memory.
          facts: EventFacts(record: event, path: path, commit: nil), change: commit?.changes?.change(at: event.id.path),
          parent: commit?.cause?.parent, known: Set(executions).union(deliveries)))
    }
    return page
  }
}
