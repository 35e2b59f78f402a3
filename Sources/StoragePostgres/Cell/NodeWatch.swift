/// A node of a store, by its signs of life.
public struct NodeSight: Sendable, Hashable {
  public let name: String
  /// Where it is reached, as `host:port`; empty where it did not say.
  public let address: String
  /// The program's.
  public let version: String
  /// For how long it has shown nothing, as far as the watch has seen, in milliseconds; 0 for one that lives.
  public let silence: Int64
}

/// Watches the signs of life of all nodes, by the clock of who looks: a beat that is the same as at the look before is none.
public struct NodeWatch: Sendable {
  /// What a node shows.
  public typealias Beat = (beat: Int64, address: String, version: String)

  private var seen: [String: (beat: Int64, time: Int64)] = [:]

  public init() {}

  /// Takes in a look.
  ///
  /// - `beats`: of each node, by name. Looks lie at least ``PostgresLease/beatInterval`` apart.
  /// - `time`: when it was asked for, by ``MonotonicTime``, in milliseconds.
  /// - Returns: the nodes, by name.
  public mutating func see(_ beats: [String: Beat], at time: Int64) -> [NodeSight] {
    seen = beats.reduce(into: [:]) { next, node in
      let before = seen[node.key]
      next[node.key] = before?.beat == node.value.beat ? before : (node.value.beat, time)
    }
    return beats.map { name, shown in
      NodeSight(name: name, address: shown.address, version: shown.version, silence: time - (seen[name]?.time ?? time))
    }.sorted { $0.name < $1.name }
  }
}
