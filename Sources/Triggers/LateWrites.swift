import FunctionsKit
import StorageCore
import TreeModel

/// What a run that comes late may still write.
///
/// A retry, a replay or a redelivery may run long after its event. What adds up (payments, increments) is right at any
/// time, and a `transaction` looks at the latest value. A plain set or removal is not: it would put an old value over a
/// newer one. Such a write is *stale* if its place is not what it was at the event; it is withheld, and the execution says
/// so. The others get an expectation, so that the writer judges them again on the state that they are applied to.
struct LateWrites {
  let reader: RunReader
  private(set) var expectations: [CommitRequest.Expectation] = []
  private var stale: [Path] = []

  init(reader: RunReader) {
    self.reader = reader
  }

  /// What was withheld; nil if nothing was.
  var reason: String? {
    guard let first = stale.first else { return nil }
    let others = stale.count > 1 ? " and \(stale.count - 1) more" : ""
    return "stale: \(first)\(others) was changed since the event, and was left as it is"
  }

  /// The effects without the writes that are stale.
  mutating func withholdStale(in effects: FunctionEffects) throws -> FunctionEffects {
    var kept: [WriteOperation] = []
    let transactions = Set(effects.assumptions.map(\.operation))
    for (index, operation) in effects.operations.enumerated() {
      // A transaction brings its own expectation, on the latest value; but it went on from what the run wrote before.
      let isKept = try transactions.contains(index) ? !restsOnStale(operation) : isCurrent(operation)
      if isKept { kept.append(operation) }
    }
    return effects.replacingOperations(kept)
  }

  private mutating func restsOnStale(_ operation: WriteOperation) -> Bool {
    let place = PathBytes(operation.path)
    guard stale.contains(where: { PathBytes($0).contains(place) || place.contains(PathBytes($0)) }) else { return false }
    stale.append(operation.path)
    return true
  }

  private mutating func isCurrent(_ operation: WriteOperation) throws -> Bool {
    var expected: [CommitRequest.Expectation] = []
    for assignment in operation.assignments where !assignment.commutes {
      let known = try reader.nodeAtEvent(assignment.path)
      let latest = try reader.latestNode(assignment.path)
      // What stands there already does no harm.
      guard latest == known || latest == assignment.plainNode else {
        stale.append(assignment.path)
        return false
      }
      expected.append(CommitRequest.Expectation(path: assignment.path, node: latest))
    }
    expectations += expected
    return true
  }
}

extension WriteOperation.Assignment {
  /// What stands at its path afterwards, if that is known.
  fileprivate var plainNode: TreeNode? {
    guard case .node(let write) = value, write.slots.isEmpty else { return nil }
    return write.node
  }

  /// Whether it comes to the same at any time: it only adds to a number.
  fileprivate var commutes: Bool {
    guard case .node(let write) = value, write.slots.count == 1, let slot = write.slots.first, slot.path.depth == 0,
      !slot.isPriority, case .increment = slot.value
    else { return false }
    return true
  }
}
