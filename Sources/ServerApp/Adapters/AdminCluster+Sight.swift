import AdminModel
import StoragePostgres

/// What the node that leads sees, as administrators read it.
extension AdminCluster.State {
  /// - Parameter sight: nil where the data folder is the truth.
  init(_ sight: ClusterSight?) {
    guard let sight else {
      self.init()
      return
    }
    self.init(
      node: sight.node, term: AdminCluster.Term(sight),
      nodes: sight.nodes.map { node in
        AdminCluster.Node(
          name: node.name, address: node.address.isEmpty ? nil : node.address, version: node.version,
          leads: node.name == sight.node, alive: node.silence < ClusterSight.silenceMax, silentMs: node.silence)
      })
  }
}

extension AdminCluster.Term {
  fileprivate init(_ sight: ClusterSight) {
    let totals = sight.totals
    self.init(
      number: sight.term, startedAt: Timestamp(sight.startedAt), batches: totals.batches, bytes: totals.bytes,
      batchMicros: totals.batches > 0 ? totals.time * 1000 / totals.batches : nil)
  }
}
