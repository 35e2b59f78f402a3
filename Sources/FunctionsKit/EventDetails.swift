public import TreeModel

/// What every event tells beside its values.
public struct EventDetails: Sendable {
  /// `epoch-revision:path`; the same for every delivery of the event.
  public let id: String
  public let namespace: String
  /// The path that the pattern matched.
  public let path: Path
  /// When the write was committed, in milliseconds since 1970.
  public let time: Int64
  /// Who wrote: `user:bob`, `admin:owner`, `anonymous`, `function:NAME`.
  public let actor: String
  /// Which attempt at this event this is, from 1.
  public let attempt: Int

  public init(id: String, namespace: String, path: Path, time: Int64, actor: String, attempt: Int) {
    self.id = id
    self.namespace = namespace
    self.path = path
    self.time = time
    self.actor = actor
    self.attempt = attempt
  }
}
