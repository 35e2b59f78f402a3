/// Runs functions on the writer, right after a commit was judged: those that are known to be short. Their effects are in the
/// same batch as the commit, before the disk has answered.
///
/// The dispatcher is one, and the database is given it. Targets of one layer meet only here.
public protocol InlineRunning: AnyObject, Sendable {
  /// Called on the writer for each request that was accepted and made events, before anything else is judged; it must not wait
  /// for anything.
  ///
  /// The effects' own events are its own affair: it is not called for what `commit` accepts. Whatever it commits must be in
  /// the batch of the commit itself, so that a crash keeps both or neither.
  /// - `session`: the state after the commit, and after each effect.
  /// - `commit`: judges an effect, on the state that the last one left. It is not durable yet, nor is a refusal.
  func didJudge(
    _ committed: CommittedRequest, in session: any CommitSession,
    commit: (CommitRequest) -> Result<CommittedRequest, CommitError>)
}
