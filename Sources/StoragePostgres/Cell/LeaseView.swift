/// Who leads, as PostgreSQL has it.
public struct LeaseView: Sendable, Hashable {
  /// Counts the terms.
  public let fence: Int64
  /// The last batch.
  public let batch: Int64
  /// Who leads, or led last; empty before the first term.
  public let node: String
  /// Where that node is reached, as `host:port`; empty where it said nothing.
  public let address: String
  /// Whether it gave the lease back.
  public let isClean: Bool
  /// Its last sign of life; a number that means nothing but that it changes.
  public let beat: Int64
  /// What the nodes of this store have in common.
  public let secret: [UInt8]
  /// Which node is to lead next; nil where nobody asked for one.
  public var wanted: String?
  /// When it was asked for and when it was there, by ``MonotonicTime``.
  let time: ClosedRange<Int64>
}

/// Watches the node that leads: whether it shows that it lives.
struct LeaseWatch {
  /// How long the lease is left to the node that is wanted, in milliseconds: it may have died since.
  static let courtesy: Int64 = 2000

  /// What was seen of it, and when that was new.
  private var seen: (view: LeaseView, since: Int64)?

  /// Whether another node may lead next: nobody does, or who did was not heard of for ``PostgresLease/patience``. Between two looks, and
  /// not since the first: who looks may have stood still itself.
  ///
  /// - `node`: who asks.
  mutating func mayTake(_ view: LeaseView, node: String) -> Bool {
    let isLeftToAnother = view.isClean && view.wanted != nil && view.wanted != node
    if !isLeftToAnother {
      // Its own earlier process is gone: a node's folder has one process at a time.
      if view.isClean || view.node.isEmpty || view.node == node { return true }
    }
    if let seen, seen.view.fence == view.fence, seen.view.isClean == view.isClean, view.isClean || seen.view.beat == view.beat {
      return view.time.lowerBound - seen.since >= (isLeftToAnother ? Self.courtesy : PostgresLease.patience)
    }
    seen = (view, view.time.upperBound)
    return false
  }
}
