/// Someone who is told what became durable, in revision order. Called on the writer: it must only take note.
public protocol CommitObserver: Sendable {
  func didCommit(_ batch: [CommittedRequest])
  /// A namespace was forgotten whole, with everything that was committed to it.
  func didForget(_ namespace: NamespaceID)
}

extension CommitObserver {
  public func didForget(_ namespace: NamespaceID) {}
}
