public import TreeModel

/// A room that adds rows to the commits of others: events, ledger postings.
///
/// Called on the writer, in the batch, for one request at a time; what it reads through the session is the state that the
/// request is applied to. It must not wait for anything. Rooms of one floor meet only here.
public protocol CommitParticipant: Sendable {
  /// Turns the part of the request that is not a tree operation into assignments; called after the operations were
  /// applied to the session.
  func assignments(for request: CommitRequest, at time: Int64, in session: any WriteSession) throws(CommitRefusal)
    -> [WriteOperation.Assignment]
  /// Adds its rows to the session, and to the draft what others are told of.
  func participate(in draft: inout CommitDraft, session: any WriteSession) throws(CommitRefusal)
}
