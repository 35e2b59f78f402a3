public import TreeModel

/// A replay as storage keeps it: what was asked for, and how far it is. It outlives the process that runs it.
public struct ReplayRecord: Sendable, Hashable {
  /// Whether there is anything left to do.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// At work, or to be taken up again at the next start.
    case running
    /// Stopped by a person; can go on.
    case paused
    /// Over: everything that was asked for was given to the functions.
    case done
    /// Over: a person ended it.
    case cancelled
    /// Over: it could not go on. The progress says why.
    case failed
  }

  /// 1, 2, 3 … within the namespace.
  public let id: Int64
  /// Whether there is anything left to do.
  public let state: State
  /// What was asked for.
  public let order: ReplayOrder
  /// Where it stands, with its counts; in the form of whoever runs it.
  public let progress: JSON
  /// Milliseconds since 1970.
  public let createdAt: Int64
  /// Milliseconds since 1970.
  public let updatedAt: Int64

  public init(id: Int64, state: State, order: ReplayOrder, progress: JSON, createdAt: Int64, updatedAt: Int64) {
    self.id = id
    self.state = state
    self.order = order
    self.progress = progress
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// An event and a function that a replay brought together; what became of it is in the execution or the delivery.
public struct ReplayItem: Sendable, Hashable {
  /// Which event.
  public let event: EventID
  /// The name of the function.
  public let function: String

  public init(event: EventID, function: String) {
    self.event = event
    self.function = function
  }
}
