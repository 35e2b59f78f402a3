import Glibc
package import ServerConfiguration
package import StorageCore
import StoragePostgres

/// What a PostgreSQL says of its store and of the nodes, for somebody who looks.
package struct ClusterView: Sendable {
  /// A node, by its signs of life.
  package struct Node: Sendable {
    package let name: String
    /// Where it is reached; empty where it did not say.
    package let address: String
    package let version: String
    /// Whether its beat went on while it was looked at.
    package let isAlive: Bool
    package let leads: Bool
  }

  /// Counts the terms.
  package let term: Int64
  /// The last batch.
  package let batch: Int64
  /// By name.
  package let nodes: [Node]
  /// The last batch of the newest base, and how large that is.
  package let base: (batch: Int64, bytes: Int64)?
  /// Bytes of batches behind it.
  package let logBytes: Int64
  /// Why what is acknowledged could be lost with one machine; nil if it could not.
  package let danger: String?

  /// Looks twice, a beat apart.
  ///
  /// - `allowsSingle`: whether PostgreSQL needs no standby: its disk is kept on several machines.
  /// - Throws: `StorageError` if PostgreSQL does not answer, or has no store.
  package init(_ settings: ClusterSettings, allowsSingle: Bool) throws(StorageError) {
    let cell = PostgresCell(url: settings.url, schema: settings.schema, allowsSingle: allowsSingle)
    let lease = try PostgresLease(cell, node: "status")
    guard try lease.look() != nil else {
      throw StorageError(.failed, "This PostgreSQL has no store in schema \(settings.schema).")
    }
    let before = try lease.nodes()
    usleep(UInt32(PostgresLease.beatInterval * 1600))
    let after = try lease.nodes()
    guard let view = try lease.look() else { throw StorageError(.failed, "The store has gone from PostgreSQL.") }
    nodes = after.map { name, node in
      Node(
        name: name, address: node.address, version: node.version, isAlive: before[name].map { $0.beat != node.beat } ?? true,
        leads: name == view.node && !view.isClean)
    }.sorted { $0.name < $1.name }
    (term, batch) = (view.fence, view.batch)
    let archive = try PostgresArchive(cell, random: SystemRandomNumberGenerator())
    base = try archive.newestBase().map { ($0.position.batch, $0.bytes) }
    logBytes = try archive.bytesBehindBase()
    do throws(StorageError) {
      try lease.throwIfUnsafe()
      danger = nil
    } catch {
      guard error.code == .failed else { throw error }
      danger = error.message
    }
  }

  /// What became of asking a node to lead.
  package enum Handover: Sendable {
    /// It leads, after so many milliseconds.
    case done(Int64)
    case leadsAlready
    /// It does not show that it lives, or is not listed.
    case silent
    /// So long was waited, in milliseconds. Nobody is asked for any more.
    case late(Int64)
  }

  /// How long a node may take to lead, in milliseconds.
  private static let patience: Int64 = 30_000

  /// Asks a node to lead, and waits until it does: the one that leads ends its term in order.
  ///
  /// - Throws: `StorageError` if PostgreSQL does not answer.
  package static func hand(to node: String, of settings: ClusterSettings) throws(StorageError) -> Handover {
    let view = try ClusterView(settings, allowsSingle: true)
    guard let wanted = view.nodes.first(where: { $0.name == node }), wanted.isAlive else { return .silent }
    if wanted.leads { return .leadsAlready }
    let lease = try PostgresLease(
      PostgresCell(url: settings.url, schema: settings.schema, allowsSingle: true), node: "status")
    let start = MonotonicTime.now()
    try lease.want(node)
    // Whatever comes of it, it is asked for once.
    defer { try? lease.want(nil) }
    while MonotonicTime.now() - start < patience {
      if let view = try lease.look(), view.node == node, !view.isClean { return .done(MonotonicTime.now() - start) }
      usleep(20_000)
    }
    return .late(patience)
  }

  /// Takes a node from the list.
  ///
  /// - Returns: false if it is not listed.
  /// - Throws: `StorageError` if PostgreSQL does not answer.
  package static func forget(_ node: String, of settings: ClusterSettings) throws(StorageError) -> Bool {
    let cell = PostgresCell(url: settings.url, schema: settings.schema, allowsSingle: true)
    return try PostgresLease(cell, node: "status").forget(node)
  }
}
