import StorageCore

/// What waits for the hub's thread; done in order.
enum HubWork: Sendable {
  case commits([CommittedRequest], weight: Int)
  /// Commits were left out, of the namespaces that ``MissedCommits`` noted.
  case missed
  case listen(Listening)
  case leave(Listening)
  /// The lane wants another snapshot.
  case reload(Listening, generation: Int)
  case loaded(LoadResult)
  case run(Listener, @Sendable () -> Void)
  case review
  case forget(NamespaceID)
}
