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
