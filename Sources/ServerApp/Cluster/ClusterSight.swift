import APISupport
import StoragePostgres

/// What the node that leads sees of the nodes and of its journal: for the metrics, for administrators, and for who must be told.
struct ClusterSight: Sendable {
  /// A node that ends in order is not listed any more; one that is silent for so long needs a person, in milliseconds.
  static let silenceMax: Int64 = 30_000

  /// The one that leads.
  let node: String
  /// Counts the terms.
  let term: Int64
  /// When the term began, in milliseconds since 1970.
  let startedAt: Int64
  /// By name.
  let nodes: [NodeSight]
  /// Since the term began.
  let totals: PostgresJournal.Totals

  /// What to tell a person; nil while every node shows that it lives.
  var trouble: String? {
    let silent = nodes.filter { $0.silence >= Self.silenceMax }
    guard !silent.isEmpty else { return nil }
    let list = silent.map { "\($0.name)\($0.address.isEmpty ? "" : " (\($0.address))") for \($0.silence / 1000) s" }
    return
      "Nodes show no sign of life: \(list.joined(separator: ", ")). Start them again; take one that will not come back from the list "
      + "with \"doubloon cluster forget NODE\"."
  }

  /// Whether this node leads.
  static func leads(_ leads: Bool) -> MetricFamily {
    .gauge("doubloon_cluster_leads", help: "1 of the node that leads, 0 of the others.", value: leads ? 1 : 0)
  }

  var families: [MetricFamily] {
    let silent = nodes.count { $0.silence >= Self.silenceMax }
    return [
      Self.leads(true),
      MetricFamily.gauge("doubloon_cluster_nodes", help: "Nodes of the store: that live, and that are silent.")
        .with([("alive", nodes.count - silent), ("silent", silent)], label: "state") { ($0.0, Double($0.1)) },
      .gauge(
        "doubloon_cluster_term", help: "The number of the term: it grows by one when a node begins to lead.",
        value: Double(term)),
      .counter(
        "doubloon_cluster_batches_total", help: "Batches that PostgreSQL has, since the term began.", value: Int(totals.batches)
      ),
      .counter("doubloon_cluster_bytes_total", help: "Bytes of changes in them.", value: Int(totals.bytes)),
      MetricFamily.counter(
        "doubloon_cluster_batch_seconds_total", help: "How long they took until they were durable, all of them together."
      ).with(Double(totals.time) / 1000, labels: []),
    ]
  }
}
