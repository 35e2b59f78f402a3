import TreeModel

/// The nodes of a store that is kept in PostgreSQL.
package enum AdminCluster {
  package static let state = Endpoint<NoQuery, NoBody, State>(
    .get, "/admin/v1/cluster",
    "The nodes of a store in PostgreSQL, and what the one that leads did in its term; elsewhere, that there are none.")

  /// A node, by its signs of life.
  package struct Node: AdminValue {
    package var name: String
    /// Where it is reached, as host:port; not given where it did not say.
    package var address: String?
    /// The program's.
    package var version: String
    package var leads: Bool
    /// Whether it was heard of within half a minute.
    package var alive: Bool
    /// For how long it had shown nothing when it was looked at last; 0 for one that showed that it lives.
    package var silentMs: Int64

    package init(name: String, address: String? = nil, version: String, leads: Bool, alive: Bool, silentMs: Int64) {
      self.name = name
      self.address = address
      self.version = version
      self.leads = leads
      self.alive = alive
      self.silentMs = silentMs
    }

    package static let notes: [String: FieldNote] = [
      "address": .text("where it is reached, as host:port; not given where it did not say"),
      "version": .text("the program's"),
      "alive": .text("whether it was heard of within half a minute"),
      "silentMs": .text("for how long it had shown nothing when it was looked at last; 0 for one that showed that it lives"),
    ]
  }

  /// The time in which one node leads.
  package struct Term: AdminValue {
    /// It grows by one when a node begins to lead.
    package var number: Int64
    package var startedAt: Timestamp
    /// What PostgreSQL has of the term: batches, and bytes of changes in them.
    package var batches: Int64
    package var bytes: Int64
    /// From sending a batch until it was durable, on average, in microseconds; not given before the first.
    package var batchMicros: Int64?

    package init(number: Int64, startedAt: Timestamp, batches: Int64, bytes: Int64, batchMicros: Int64? = nil) {
      self.number = number
      self.startedAt = startedAt
      self.batches = batches
      self.bytes = bytes
      self.batchMicros = batchMicros
    }

    package static let notes: [String: FieldNote] = [
      "number": .text("it grows by one when a node begins to lead"),
      "batches": .text("that PostgreSQL has of the term"),
      "bytes": .text("of changes in them"),
      "batchMicros": .text("microseconds from sending a batch until it was durable, on average; not given before the first"),
    ]
  }

  /// What there is of nodes.
  package struct State: AdminValue {
    /// Whether the store is kept in PostgreSQL; where it is not, nothing else is given.
    package var clustered: Bool
    /// The one that answers, which leads.
    package var node: String?
    package var term: Term?
    /// By name; empty before the first look.
    package var nodes: [Node]?

    /// Of a server whose data folder is the truth.
    package init() { clustered = false }

    /// Of a store in PostgreSQL.
    ///
    /// - `node`: the one that answers.
    /// - `term`: its term.
    /// - `nodes`: all of them, by name.
    package init(node: String, term: Term, nodes: [Node]) {
      clustered = true
      self.node = node
      self.term = term
      self.nodes = nodes
    }

    package static let notes: [String: FieldNote] = [
      "clustered": .text("whether the store is kept in PostgreSQL; where it is not, nothing else is given"),
      "node": .text("the one that answers, which leads"),
      "nodes": .text("by name; empty before the first look"),
    ]
  }
}
