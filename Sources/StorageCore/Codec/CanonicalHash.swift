internal import Crypto
internal import RewardModel
public import TreeModel

/// One SHA-256 over everything that a namespace promises to keep: the tree with its priorities, the ledger, and the
/// executions. Two stores with the same hash say the same about every player.
///
/// Numbers of namespaces, revisions of leaves and what is only on its way do not count.
public enum CanonicalHash {
  /// Reads everything, page by page.
  public static func of(_ namespace: NamespaceID, in snapshot: any Snapshot) throws(StorageError) -> [UInt8] {
    var whole = SHA256()
    whole.update(data: try treeHash(namespace, snapshot: snapshot))
    try addEntries(of: namespace, in: snapshot, to: &whole)
    try addExecutions(of: namespace, in: snapshot, to: &whole)
    return Array(whole.finalize())
  }

  private static func treeHash(_ namespace: NamespaceID, snapshot: any Snapshot) throws(StorageError) -> [UInt8] {
    var hash = TreeHash()
    var last: PathBytes?
    let head = try snapshot.head(of: namespace).revision
    while true {
      let page = try snapshot.leaves(in: namespace, after: last, asOf: head, limit: 4096)
      for leaf in page { hash.add(leaf.leaf) }
      last = page.last?.leaf.path
      if page.count < 4096 { return hash.finalized() }
    }
  }

  private static func addEntries(of namespace: NamespaceID, in snapshot: any Snapshot, to whole: inout SHA256)
    throws(StorageError)
  {
    var last: Int64 = 0
    while true {
      let page = try snapshot.entries(in: namespace, after: last, limit: 1000)
      // An entry's hash covers every field, and the entry before.
      for entry in page { whole.update(data: entry.hash) }
      last = page.last?.sequence ?? last
      if page.count < 1000 { return }
    }
  }

  private static func addExecutions(of namespace: NamespaceID, in snapshot: any Snapshot, to whole: inout SHA256)
    throws(StorageError)
  {
    var last: ReplayItem?
    while true {
      let page = try snapshot.executions(in: namespace, after: last, limit: 1000)
      for execution in page { whole.update(data: bytes(execution)) }
      last = page.last.map { ReplayItem(event: $0.event, function: $0.function) }
      if page.count < 1000 { return }
    }
  }

  private static func bytes(_ execution: ExecutionRecord) -> [UInt8] {
    var writer = ByteWriter(capacity: 160)
    writer.write(signed: execution.event.epoch)
    writer.write(signed: execution.event.revision.rawValue)
    writer.write(unsigned: UInt64(execution.event.path.bytes.count))
    writer.write(bytes: execution.event.path.bytes)
    writer.write(text: execution.function)
    writer.write(text: execution.outcome.rawValue)
    writer.write(optional: execution.reason)
    writer.write(signed: Int64(execution.attempt))
    writer.write(signed: execution.startedAt)
    writer.write(signed: execution.finishedAt)
    writer.write(signed: execution.effect?.rawValue ?? -1)
    writer.write(optional: execution.settings)
    return writer.bytes
  }
}

/// SHA-256 over a tree, leaf by leaf in path order, priorities included.
///
/// Equal trees have equal hashes, whatever led to them: the revisions of the leaves do not count.
public struct TreeHash {
  private var state = SHA256()
  /// Leaves and priorities so far.
  public private(set) var count: Int64 = 0

  /// The hash of no leaf yet.
  public init() {
    state.update(data: Array("doubloon.tree.1".utf8))
  }

  /// Adds the next leaf. The caller sees to the order.
  public mutating func add(_ leaf: Leaf) {
    count += 1
    var writer = ByteWriter(capacity: leaf.path.bytes.count + 16)
    writer.write(unsigned: UInt64(leaf.path.bytes.count))
    writer.write(bytes: leaf.path.bytes)
    writer.write(scalar: leaf.scalar)
    state.update(data: writer.bytes)
  }

  /// 32 bytes.
  public func finalized() -> [UInt8] { Array(state.finalize()) }
}
