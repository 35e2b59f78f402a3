/// Someone who is told what became durable, in revision order, before the writers themselves. Called on the one thread that
/// tells: it must only take note, for the next batch is not written before.
public protocol CommitObserver: Sendable {
  func didCommit(_ batch: [CommittedRequest])
  /// A namespace was forgotten whole, with everything that was committed to it.
  func didForget(_ namespace: NamespaceID)
}

extension CommitObserver {
  public func didForget(_ namespace: NamespaceID) {}
}
