internal import Crypto
public import TreeModel

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
