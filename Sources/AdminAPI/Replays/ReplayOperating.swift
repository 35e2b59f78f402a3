package import AdminModel
package import StorageCore
package import TreeModel

/// What administrators can do with what has happened: replays, invocations by hand, dead letters, rebuilds. The composition
/// fills it; answers are those of the surface.
package protocol ReplayOperating: Sendable {
  /// Counts and coins of what an order would come to. Writes nothing.
  func preview(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> AdminReplays.Trial
  /// What exactly an order would change. Writes nothing.
  func dryRun(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> AdminReplays.Trial
  /// Begins a replay.
  func start(_ order: ReplayOrder, in namespace: NamespaceID) async throws -> AdminReplays.Replay
  func pause(_ replay: Int64, in namespace: NamespaceID) async throws -> AdminReplays.Replay
  func resume(_ replay: Int64, in namespace: NamespaceID) async throws -> AdminReplays.Replay
  func cancel(_ replay: Int64, in namespace: NamespaceID) async throws -> AdminReplays.Replay
  func show(_ replay: Int64, in namespace: NamespaceID) throws -> AdminReplays.Replay
  /// Newest first, before one.
  func list(in namespace: NamespaceID, before replay: Int64?, limit: Int) throws -> [AdminReplays.Replay]
  /// What a replay gave to functions, in order, after one.
  func items(of replay: Int64, in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws
    -> [AdminReplays.Item]
  /// Builds the namespace again from its recorded commits, and compares.
  ///
  /// - `folder`: an empty folder that keeps what was built; nil builds it in one that goes afterwards.
  /// - `rerun`: whether to run the functions on everything that they have handled, and list what they would do differently.
  func rebuild(_ namespace: String, into folder: String?, rerun: Bool, by actor: Actor) async throws
    -> AdminReplays.Rebuild
  /// Runs a function by hand, on an event that never happened.
  func invoke(_ order: InvocationOrder, in namespace: NamespaceID, by actor: Actor) async throws
    -> AdminReplays.Item
  /// Closes dead letters without running them.
  ///
  /// - Returns: how many.
  func acknowledge(function: String?, event: EventID?, in namespace: NamespaceID, reason: String) async throws
    -> Int
}

/// A function to run by hand.
package struct InvocationOrder: Sendable {
  /// Which function.
  package let function: String
  /// Where the event would have happened.
  package let path: Path
  /// The value before the change.
  package let before: TreeNode
  /// The value after the change.
  package let after: TreeNode
  /// Who is to have written.
  package let actingAs: Actor
  /// Why.
  package let reason: String
}
