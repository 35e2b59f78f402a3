import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// A run that would do something else today than what is recorded (spec: triggers-ledger §8, check 66).
struct Divergence: Sendable {
  let event: EventID
  let function: String
  let recorded: String
  let now: String

  var json: JSON {
    [
      "event": .string(event.description), "function": .string(function), "recorded": .string(recorded),
      "now": .string(now),
    ]
  }

  /// Runs the functions of pairs that were handled before, and compares.
  static func find(in pairs: [ReplayPair], by replayer: Replayer) async throws -> [Divergence] {
    let comparable = pairs.filter { pair in
      // A person's decision is not the function's.
      if case .finished(let execution) = pair.status {
        ReplayTally.firstWord(execution.reason ?? "") != "acknowledged"
      } else {
        false
      }
    }
    var found: [Divergence] = []
    let endings = await TrialBench(dispatcher: replayer.dispatcher).run(comparable)
    for (pair, ending) in zip(comparable, endings) {
      guard case .finished(let execution) = pair.status else { continue }
      let difference = try replayer.engine.read { (snapshot) throws(StorageError) in
        try Self.difference(ending, execution, pair, snapshot)
      }
      if let (recorded, now) = difference {
        found.append(Divergence(event: pair.event.id, function: pair.name, recorded: recorded, now: now))
      }
    }
    return found
  }

  private static func difference(
    _ ending: RunEnding, _ execution: ExecutionRecord, _ pair: ReplayPair, _ snapshot: any Snapshot
  ) throws(StorageError) -> (String, String)? {
    let recorded = pair.status.text
    switch ending {
    case .failed(let error, _): return (recorded, "failed: \(error)")
    case .skipped(let reason):
      let isSame =
        execution.outcome == .skipped
        && ReplayTally.firstWord(reason) == ReplayTally.firstWord(execution.reason ?? "")
      return isSame ? nil : (recorded, "skipped: \(reason)")
    case .effect(let request, _, _):
      if execution.outcome == .skipped {
        // Those are the writer's words, on what the run asked for.
        let isWriters = ["already_paid", "insufficient_funds"].contains(ReplayTally.firstWord(execution.reason ?? ""))
        return isWriters ? nil : (recorded, text(request.transfers))
      }
      return try difference(request, execution, pair.event.namespace, snapshot)
    }
  }

  private static func difference(
    _ request: CommitRequest, _ execution: ExecutionRecord, _ namespace: NamespaceID, _ snapshot: any Snapshot
  ) throws(StorageError) -> (String, String)? {
    var paid: [LedgerTransfer] = []
    if let effect = execution.effect {
      paid = try snapshot.entries(in: namespace, of: effect).map(\.transfer).filter { $0.function == execution.function }
    }
    if lines(paid) != lines(request.transfers) { return (text(paid), text(request.transfers)) }
    guard let effect = execution.effect, execution.reason == nil else { return nil }
    for assignment in request.operations.flatMap(\.assignments) {
      guard case .node(let write) = assignment.value, write.slots.isEmpty else { continue }
      let place = PathBytes(assignment.path)
      // One more than what was written shows that it is something else.
      let limit = write.node.leaves(at: place).count + 1
      let leaves = try snapshot.leaves(in: namespace, under: place, asOf: effect, limit: limit)
      guard let node = TreeNode(leaves: leaves.map(\.leaf), at: place), node != write.node else { continue }
      return ("\(assignment.path) = \(json(node))", "\(assignment.path) = \(json(write.node))")
    }
    return nil
  }

  private static func lines(_ transfers: [LedgerTransfer]) -> [String] {
    transfers.map { "\($0.amount) \($0.unit) from \($0.debit) to \($0.credit)" }.sorted()
  }

  private static func text(_ transfers: [LedgerTransfer]) -> String {
    transfers.isEmpty ? "done, nothing paid" : "pays " + lines(transfers).joined(separator: ", ")
  }

  private static func json(_ node: TreeNode) -> String {
    String(decoding: node.json(.export).prefix(200), as: UTF8.self)
  }
}
