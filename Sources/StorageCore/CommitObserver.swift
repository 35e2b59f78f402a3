/// Someone who is told what became durable, in revision order. Called on the writer: it must only take note.
public protocol CommitObserver: Sendable {
  func didCommit(_ batch: [CommittedRequest])
}
