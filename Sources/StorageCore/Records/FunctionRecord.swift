public import TreeModel

/// What storage remembers of a function across restarts.
public struct FunctionRecord: Sendable, Hashable {
  public let name: String
  /// The pattern and the kinds (`onCreate,onUpdate`) it was registered with last: what a missing function would handle.
  public let pattern: String
  /// The kinds it was registered with last, such as `onCreate`.
  public let kinds: String
  /// Its first revision in each namespace: events at or before it are not its business. Namespaces that are not named
  /// are younger than the function.
  public let since: [NamespaceID: Revision]
  /// Whether its events wait until a person resumes it. A restart changes nothing about that.
  public let isPaused: Bool
  /// Why it is paused: a person's words, or the engine's; nil if it is not.
  public let pauseReason: String?
  /// When this was written, in milliseconds since 1970.
  public let updatedAt: Int64

  public init(
    name: String, pattern: String, kinds: String, since: [NamespaceID: Revision], isPaused: Bool, pauseReason: String?,
    updatedAt: Int64
  ) {
    self.name = name
    self.pattern = pattern
    self.kinds = kinds
    self.since = since
    self.isPaused = isPaused
    self.pauseReason = pauseReason
    self.updatedAt = updatedAt
  }
}

/// A function that was run by hand, on an event that never happened.
public struct InvocationRecord: Sendable, Hashable {
  /// 1, 2, 3 … within the namespace.
  public let id: Int64
  /// The name of the function.
  public let function: String
  /// Where the event would have happened.
  public let path: Path
  /// The value before, as the function was told it.
  public let before: TreeNode
  /// The value after, as the function was told it.
  public let after: TreeNode
  /// Who the function was told had written.
  public let actingAs: Actor
  /// Who invoked it.
  public let actor: Actor
  /// Why.
  public let reason: String
  /// Milliseconds since 1970.
  public let time: Int64

  public init(
    id: Int64, function: String, path: Path, before: TreeNode, after: TreeNode, actingAs: Actor, actor: Actor,
    reason: String, time: Int64
  ) {
    self.id = id
    self.function = function
    self.path = path
    self.before = before
    self.after = after
    self.actingAs = actingAs
    self.actor = actor
    self.reason = reason
    self.time = time
  }

  /// The id of the event: epoch 0, in which nothing ever happened by itself.
  public var event: EventID { EventID(epoch: 0, revision: Revision(id), path: PathBytes(path)) }
}
