import StorageCore
import TreeModel

/// The events of one commit, as the writer hands them over.
struct Arrival: Sendable {
  let namespace: NamespaceID
  let events: [EventRecord]
  let commit: EventFacts.Commit
  /// The revision whose event's function wrote this commit; nil for everybody else's.
  let parent: Revision?
}
