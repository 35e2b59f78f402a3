package import StorageCore

/// What administrators can do with functions and their events; the triggers' room fills it.
package protocol FunctionOperating: Sendable {
  /// The registered functions, and those that the store still remembers.
  func functionRecords() throws(OperationFault) -> [FunctionRecord]
  /// Stops giving events to a function; they wait.
  func pause(_ function: String, reason: String, by actor: Actor) async throws(OperationFault)
  /// Goes on, with the events that waited.
  func resume(_ function: String, by actor: Actor) async throws(OperationFault)
  /// Gives a function its dead letters once more.
  ///
  /// - Returns: how many.
  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault) -> Int
  /// Gives an event to its functions again; those that handled it do nothing.
  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault)
  /// Waits until the events committed before the call are settled.
  ///
  /// - Returns: what is not, after `timeoutMilliseconds`, and what is settled without being done.
  func drain(timeoutMilliseconds: Int64) async -> DrainReport
  /// Drops what is known of a namespace that no longer exists.
  func forget(_ namespace: NamespaceID)
  /// What keeps functions from working; empty if all is well.
  var problems: [String] { get }
  /// The functions that are registered in this process, in that order.
  var descriptions: [FunctionDescription] { get }
}

extension FunctionOperating {
  /// Nothing is remembered, so there is nothing to drop.
  package func forget(_ namespace: NamespaceID) {}

  /// None.
  package var descriptions: [FunctionDescription] { [] }
}
