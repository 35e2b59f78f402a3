public import StorageCore
public import TreeModel

extension Replayer {
  /// Runs the functions on everything that they have handled, without effect, and lists where they would do something else
  /// today than what is recorded (the second report of a rebuild).
  ///
  /// - Parameter listMax: divergences that are listed; all are counted.
  /// - Returns: `compared`, `divergent` and `divergences`.
  public func compareAll(in namespace: NamespaceID, because reason: String, by actor: Actor, listMax: Int = 100) async throws
    -> JSON
  {
    let order = ReplayOrder(mode: .all, allowsHandled: true, reason: reason, actor: actor)
    let (scan, progress) = try beginning(of: order, in: namespace)
    var next = progress.cursor
    var compared: Int64 = 0
    var divergent: Int64 = 0
    var listed: [JSON] = []
    while let cursor = next {
      try Task.checkCancellation()
      let page = try await onOwnThread { [engine] in
        try engine.read { (snapshot) throws(StorageError) in try scan.page(from: cursor, in: snapshot) }
      }
      let finished = page.pairs.filter { if case .finished = $0.status { true } else { false } }
      let divergences = try await Divergence.find(in: finished, by: self)
      compared += Int64(finished.count)
      divergent += Int64(divergences.count)
      listed += divergences.prefix(listMax - listed.count).map(\.json)
      next = page.next
    }
    return ["compared": .int(compared), "divergent": .int(divergent), "divergences": .array(listed)]
  }
}
