import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// Values with their priorities, and the priorities of nodes that have children; both in path order.
struct ValueStretch {
  /// A leaf of the tree.
  struct Value {
    let path: PathBytes
    let scalar: Scalar
    var priority: Scalar?
  }

  var values: [Value] = []
  private(set) var nodes: [(path: PathBytes, priority: Scalar)] = []

  /// - `leaves`: in path order, the priority of each behind its value.
  init(_ leaves: some Sequence<Leaf>) {
    for leaf in leaves {
      guard leaf.path.isPriority else {
        values.append(Value(path: leaf.path, scalar: leaf.scalar))
        continue
      }
      let node = leaf.path.node
      if let last = values.indices.last, values[last].path == node {
        values[last].priority = leaf.scalar
      } else {
        nodes.append((node, leaf.scalar))
      }
    }
  }

  /// The first value at or behind a path.
  func firstValue(from path: PathBytes) -> Int {
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A part of a document as it was sent: its values, and which stretch of the tree they are all of.
struct ImportPart {
  let base: Path
  let sent: ValueStretch
  let isLast: Bool
  /// Where the stretch begins.
  let lower: PathBytes
  /// Where it ends: behind the last value or, of the last part, behind everything below the base.
  let upper: PathBytes

  init(_ order: AdminTree.ImportOrder, bounds: WriteBounds) throws {
    base = try DataRoutes.path(order.path)
    isLast = order.last ?? false
    let place = PathBytes(base)
    let end = place.subtreeEnd ?? .afterAll
    lower = try Self.start(behind: order.after, below: place, end: end)
    let write: WriteNode
    do throws(WriteDataError) {
      write = try WriteNode(json: order.value ?? .null, depth: base.depth, bounds: bounds)
      if let slot = write.slots.first { throw WriteDataError(.serverValueNotAllowed, at: slot.path) }
    } catch {
      throw APIError(error)
    }
    sent = ValueStretch(write.node.leaves(at: place))
    if let first = sent.values.first, first.path < lower {
      throw APIError.badRequest(
        "\(first.path.path?.description ?? "A value") comes before after, or is it: send values in the order of the tree (as an export "
          + "has them), each once, and those behind the through of the part before.")
    }
    guard let last = sent.values.last else {
      guard isLast else { throw APIError.badRequest("There is no value in this part; send some, or last=true to end.") }
      upper = end
      return
    }
    upper = isLast ? end : last.path.subtreeEnd ?? end
  }

  private static func start(behind after: String?, below base: PathBytes, end: PathBytes) throws -> PathBytes {
    guard let after else { return base }
    let place = PathBytes(try DataRoutes.path(after))
    guard base.contains(place) else {
      throw APIError.badRequest("after must be path or lie below it: it is the through of the part before.")
    }
    return place.subtreeEnd ?? end
  }
}

/// What makes a stretch of the tree what a part of a document says.
struct ImportPlan: Sendable {
  var answer: AdminTree.Imported
  /// Of values; made first, so that nodes are there when they get their priorities.
  var values: [WriteOperation.Assignment] = []
  var priorities: [WriteOperation.Assignment] = []
  /// How many values were compared: more would have been too many.
  var steps = 0

  /// Compares at most so many values.
  init(_ part: ImportPart, in namespace: NamespaceID, valuesMax: Int, snapshot: any Snapshot) throws {
    answer = AdminTree.Imported(revision: try snapshot.head(of: namespace).revision.rawValue)
    var comparison = try ImportComparison(part, in: namespace, valuesMax: valuesMax, plan: self, snapshot: snapshot)
    self = try comparison.made(valuesMax: valuesMax)
  }
}
