import StorageCore
import TreeModel

/// Makes an event of every leaf that changes, as if a function waited for all of them.
struct EveryChange: CommitParticipant {
  func assignments(for request: CommitRequest, at time: Int64, in session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  { [] }

  func participate(in draft: inout CommitDraft, session: any WriteSession) throws(CommitRefusal) {
    for change in draft.changes where !change.path.isPriority {
      let kind: EventRecord.Kind = change.before == nil ? .created : change.after == nil ? .deleted : .updated
      draft.events.append(
        EventRecord(
          namespace: draft.request.namespace,
          id: EventID(epoch: draft.epoch, revision: draft.revision, path: change.path), kind: kind, hop: 0))
    }
  }
}
