public import TreeModel

/// A place in a namespace's event log: before or after the events of a revision, or at one of them.
public struct EventPosition: Sendable, Hashable {
  /// The commit that caused the events.
  public let revision: Revision
  /// nil stands before the revision's first event.
  public let path: PathBytes?

  public init(revision: Revision, path: PathBytes?) {
    self.revision = revision
    self.path = path
  }
}
