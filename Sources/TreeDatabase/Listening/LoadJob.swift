import StorageCore
import TreeModel

/// A snapshot to read, for all listens of a group that wait for one.
struct LoadJob: Sendable {
  struct Waiter: Sendable {
    let listening: Listening
    /// See ``Listening/generation``.
    let generation: Int
  }

  let group: ListenGroup
  let namespace: NamespaceID
  let path: PathBytes
  let query: Query?
  let format: TreeFormat
  let waiters: [Waiter]
  /// Which window is to be filled, see ``ListenWindow/generation``; nil if it is filled already, or if there is none.
  let windowGeneration: Int?
}

/// What came of it.
struct LoadResult: Sendable {
  /// A window's first children.
  struct Window: Sendable {
    let generation: Int
    let revision: Revision
    let children: [QueryPlace]
    /// Whether there are no others.
    let isComplete: Bool
  }

  let group: ListenGroup
  let outcomes: [(waiter: LoadJob.Waiter, outcome: LoadOutcome)]
  let window: Window?
}
