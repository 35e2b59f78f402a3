import FunctionsKit
import RewardModel
package import StorageCore
import Synchronization
package import TreeModel

extension Replayer {
  /// A function to run by hand, on an event that never happened.
  package struct Invocation: Sendable {
    /// The name of the function.
    package var function: String
    /// Where the event would have happened; the function's pattern must match it.
    package var path: Path
    /// The value before; absent for a creation.
    package var before: TreeNode
    /// The value after; absent for a deletion.
    package var after: TreeNode
    /// Who is to have written.
    package var actingAs: Actor
    /// Why, for the record; never empty.
    package var reason: String

    package init(function: String, path: Path, before: TreeNode, after: TreeNode, actingAs: Actor, reason: String) {
      self.function = function
      self.path = path
      self.before = before
      self.after = after
      self.actingAs = actingAs
      self.reason = reason
    }
  }

  /// Runs a function once, by hand, and commits what it asks for under an identity of its own, `0-NUMBER:PATH`.
  ///
  /// It reads the tree as it is now. Nothing is retried: a run that fails leaves nothing. A business key that was paid before
  /// makes it `skipped: already_paid`, as ever.
  ///
  package func invoke(_ invocation: Invocation, in namespace: NamespaceID, by actor: Actor) async throws -> InvocationResult {
    let (position, kind, captures) = try check(invocation)
    let record = InvocationRecord(
      id: try nextInvocationID(in: namespace), function: invocation.function, path: invocation.path,
      before: invocation.before, after: invocation.after, actingAs: invocation.actingAs, actor: actor,
      reason: invocation.reason, time: clock.now())
    let definition = dispatcher.table.definitions[position]
    let event = EventRecord(namespace: namespace, id: record.event, kind: kind, hop: 0)
    let delivery = Delivery(
      EventFacts(record: event, path: record.path, commit: nil), to: position, of: definition, root: .zero)
    let trial = TrialRunner.Trial(delivery: delivery, definition: definition) { [dispatcher, engine] in
      let head = try engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: namespace).revision }
      return RunInput(
        record, definition, at: head, namespace: try dispatcher.name(of: namespace), id: namespace, captures: captures,
        engine: engine,
        options: dispatcher.options, now: dispatcher.clock.now())
    }
    for _ in 0...dispatcher.options.rerunsMax {
      guard let ending = await TrialRunner(dispatcher: dispatcher).run([trial]).first else { break }
      if let answer = try await settle(ending, of: record, function: position, in: namespace) { return answer }
    }
    return InvocationResult(record, .failed, reason: "stale: a value that it reads was changed again and again")
  }

  /// Commits the end of an invocation; nil if the run is to be repeated.
  private func settle(_ ending: RunEnding, of record: InvocationRecord, function: Int, in namespace: NamespaceID)
    async throws -> InvocationResult?
  {
    switch ending {
    case .failed(let error, _): return InvocationResult(record, .failed, reason: error)
    case .skipped(let reason):
      return try await skip(record, because: reason, settings: dispatcher.table.settings[function], in: namespace)
    case .effect(var request, let execution, _):
      var upkeep = Maintenance()
      upkeep.invocation = record
      request.rows.maintenance = upkeep
      do throws(CommitError) {
        let receipt = try await writer.commit(request)
        return InvocationResult(record, .done, reason: execution.reason, effect: receipt.changed ? receipt.revision : nil)
      } catch {
        switch error.code {
        case .stale, .recordChanged: return nil
        case .keyTaken(let entry):
          let reason = "already_paid: entry \(entry.sequence) of \(entry.transfer.event ?? "no event")"
          return try await skip(record, because: reason, settings: execution.settings, in: namespace)
        case .insufficientFunds:
          return try await skip(record, because: "insufficient_funds", settings: execution.settings, in: namespace)
        default: return InvocationResult(record, .failed, reason: error.message)
        }
      }
    }
  }

  private func skip(_ record: InvocationRecord, because reason: String, settings: String?, in namespace: NamespaceID)
    async throws -> InvocationResult
  {
    var request = CommitRequest(namespace: namespace, actor: .system("replay"))
    request.triggers.execution = ExecutionRecord(
      event: record.event, function: record.function, outcome: .skipped, reason: reason, attempt: 1,
      startedAt: record.time, finishedAt: clock.now(), settings: settings)
    var upkeep = Maintenance()
    upkeep.invocation = record
    request.rows.maintenance = upkeep
    try await commit(request)
    return InvocationResult(record, .skipped, reason: reason)
  }

  // MARK: Checking

  private func check(_ invocation: Invocation) throws -> (function: Int, kind: EventRecord.Kind, captures: [String]) {
    guard !invocation.reason.isEmpty else { throw AdministrationError(.invalid, "An invocation needs a reason.") }
    guard let position = dispatcher.table.position(of: invocation.function) else {
      throw AdministrationError.unknownFunction(invocation.function)
    }
    let definition = dispatcher.table.definitions[position]
    guard let captures = definition.pattern.match(invocation.path)?.map(\.value) else {
      throw AdministrationError(
        .invalid, "\(invocation.function) is for \(definition.pattern), which \(invocation.path) does not match.")
    }
    let kind: EventRecord.Kind
    switch (invocation.before.exists, invocation.after.exists) {
    case (false, true): kind = .created
    case (true, false): kind = .deleted
    case (true, true) where invocation.before != invocation.after: kind = .updated
    default: throw AdministrationError(.invalid, "Before and after are the same: that is no event. Give them two values.")
    }
    let isWanted = dispatcher.table.wants(
      position, kind: kind, before: invocation.before.scalar, after: invocation.after.scalar)
    guard isWanted else {
      throw AdministrationError(
        .invalid,
        "\(invocation.function) does not run for this: it is \(definition.trigger.rawValue), \(definition.filter.description).")
    }
    return (position, kind, captures)
  }

  private func nextInvocationID(in namespace: NamespaceID) throws -> Int64 {
    let stored = try engine.read { (snapshot) throws(StorageError) in
      try snapshot.invocations(in: namespace, before: nil, limit: 1).first?.id ?? 0
    }
    return state.withLock { state in
      let id = max(stored, state.lastInvocationIDs[namespace] ?? 0) + 1
      state.lastInvocationIDs[namespace] = id
      return id
    }
  }
}

/// How a run by hand ended.
package struct InvocationResult: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable {
    case done
    case skipped
    case failed
  }

  /// The identity under which its effect was committed, `0-NUMBER:PATH`.
  package let event: EventID
  package let function: String
  package let outcome: Outcome
  package let reason: String?
  /// The commit of its effect; nil if it changed nothing.
  package let effect: Revision?

  init(_ record: InvocationRecord, _ outcome: Outcome, reason: String?, effect: Revision? = nil) {
    event = record.event
    function = record.function
    self.outcome = outcome
    self.reason = reason
    self.effect = effect
  }
}
