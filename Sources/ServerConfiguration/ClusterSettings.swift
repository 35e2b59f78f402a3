/// A store that is kept in PostgreSQL and written by one of several nodes; a node's data folder has its working copy.
package struct ClusterSettings: Sendable {
  /// A connection string of libpq, with the hosts of all servers; may hold a password.
  package let url: String
  /// The store's schema in PostgreSQL.
  package var schema = "doubloon"
  /// Whether a batch may be durable on one PostgreSQL server alone.
  package var allowsSingle = false
  /// Where the other nodes reach this one's clients' port, as `host:port`; nil: they cannot, and hand no clients on to it.
  package var address: String?
  /// Where this node answers reads that may be a little old; nil: nowhere.
  package var staleReads: PortAddress?
  /// What signing keys are sealed with, the same on all nodes; nil: each node has its own.
  package var sealingKey: [UInt8]?

  package init(url: String) {
    self.url = url
  }

  /// Whether a schema can have this name.
  package static func isSchema(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 95 }
  }
}
