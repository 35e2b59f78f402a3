package import StorageCore
package import TreeModel

/// What administrators can do with what has happened: replays, invocations by hand, dead letters, rebuilds. The composition
/// fills it; answers are objects as the surface shows them.
package protocol ReplayOperating: Sendable {
  /// Counts and coins of what an order would come to. Writes nothing.
  func preview(_ order: ReplayOrder, in namespace: NamespaceID) async throws(OperationFault) -> JSON
  /// What exactly an order would change. Writes nothing.
  func dryRun(_ order: ReplayOrder, in namespace: NamespaceID) async throws(OperationFault) -> JSON
  /// Begins a replay.
  func start(_ order: ReplayOrder, in namespace: NamespaceID) async throws(OperationFault) -> JSON
  func pause(_ replay: Int64, in namespace: NamespaceID) async throws(OperationFault) -> JSON
  func resume(_ replay: Int64, in namespace: NamespaceID) async throws(OperationFault) -> JSON
  func cancel(_ replay: Int64, in namespace: NamespaceID) async throws(OperationFault) -> JSON
  func show(_ replay: Int64, in namespace: NamespaceID) throws(OperationFault) -> JSON
  /// Newest first, before one.
  func list(in namespace: NamespaceID, before replay: Int64?, limit: Int) throws(OperationFault) -> [JSON]
  /// What a replay gave to functions, in order, after one; each as an object with `event`, `function` and `outcome`.
  func items(of replay: Int64, in namespace: NamespaceID, after last: ReplayItem?, limit: Int) throws(OperationFault)
    -> [JSON]
  /// Builds the namespace anew from its recorded commits and compares.
  ///
  /// - Parameters:
  ///   - folder: an empty folder that keeps what was built; nil builds it in one that goes afterwards.
  ///   - rerun: whether to run the functions on everything that they have handled, and list what they would do differently.
  func rebuild(_ namespace: String, into folder: String?, rerun: Bool, by actor: Actor) async throws(OperationFault) -> JSON
  /// Runs a function by hand, on an event that never happened.
  func invoke(_ order: InvocationOrder, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault) -> JSON
  /// Closes dead letters without running them.
  ///
  /// - Returns: how many.
  func acknowledge(function: String?, event: EventID?, in namespace: NamespaceID, reason: String) async throws(OperationFault)
    -> Int
}
