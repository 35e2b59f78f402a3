import AccessRules
import RewardModel
import StorageCore
import TreeModel

/// One request's way from the queue into the batch: resolve, evaluate, diff, participate.
///
/// Everything here runs on the writer, on the state that the request is applied to: there is no window between judging
/// and applying. What it puts into the session is taken back if it throws.
struct WritePipeline {
  let participants: [any CommitParticipant]
  let limits: WriteLimits
  let clock: any WallClock
  /// Where the rules of namespaces are.
  let catalog: IndexCatalog

  /// - Returns: what the request became; not durable yet.
  func accept(_ request: CommitRequest, in session: any CommitSession) throws(CommitError) -> CommittedRequest {
    let namespace = request.namespace
    let head = try refusing { () throws(StorageError) in try session.head(of: namespace) }
    // Commit time never runs backwards, whatever the machine's clock does.
    let time = max(clock.now(), head.time)
    if let replayed = try repetition(of: request, at: time, in: session) {
      return CommittedRequest(
        request: request, receipt: CommitReceipt(revision: replayed.revision, changed: false, time: time, replayed: replayed),
        changes: [])
    }
    try checkExecution(of: request, in: session)
    for change in request.rows.records { try check(change, in: request.namespace, session) }

    var tree = TreeAssignment(namespace: namespace, revision: head.revision.next, limits: limits, session: session)
    let resolved =
      if let rules = rules(for: request) { try applyEvaluated(request, by: rules, at: time, to: &tree) } else {
        try apply(request, at: time, to: &tree)
      }
    for participant in participants {
      _ = try tree.apply(participant.assignments(for: request, at: time, in: session), at: time)
    }
    if let decision = request.decision {
      _ = try tree.apply(decision.decide(in: namespace, at: time, session: session), at: time)
    }
    let changes = tree.finish()
    try tree.checkSize(of: changes)

    var draft = CommitDraft(
      request: request, time: time, epoch: session.epoch, revision: head.revision.next, changes: changes, head: head)
    if !changes.isEmpty || !request.ledger.transfers.isEmpty {
      for participant in participants { try participant.participate(in: &draft, session: session) }
    }
    let changed = !changes.isEmpty || !draft.entries.isEmpty || request.log.isMarked
    if changed { append(draft, to: session) }
    let receipt = CommitReceipt(
      revision: changed ? draft.revision : head.revision, changed: changed, time: time, resolved: resolved,
      events: draft.events,
      entries: draft.entries)
    putRecords(of: request, receipt: receipt, in: session)
    return CommittedRequest(request: request, receipt: receipt, changes: changes)
  }

  private func repetition(of request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> IdempotencyRecord?
  {
    guard let idempotency = request.idempotency else { return nil }
    let stored = try refusing { () throws(StorageError) in
      try session.idempotency(in: request.namespace, key: idempotency.key)
    }
    guard let stored, stored.expiresAt > time else { return nil }
    guard stored.requestDigest == idempotency.requestDigest else {
      throw CommitError(
        .idempotencyConflict,
        "The idempotency key \"\(idempotency.key)\" was used for another request. Give every request a key of its own.")
    }
    return stored
  }

  private func checkExecution(of request: CommitRequest, in session: any CommitSession) throws(CommitError) {
    guard let execution = request.triggers.execution else { return }
    let stored = try refusing { () throws(StorageError) in
      try session.execution(in: request.namespace, of: execution.event, by: execution.function)
    }
    guard stored == nil else {
      throw CommitError(.alreadyExecuted, "\(execution.function) has handled \(execution.event) before; nothing was done.")
    }
  }

  private func check(_ change: KeyedRecordChange, in namespace: NamespaceID, _ session: any CommitSession) throws(CommitError) {
    if case .anything = change.expectation { return }
    let stored = try refusing { () throws(StorageError) in
      try session.record(in: namespace, kind: change.kind, key: change.key)
    }
    if case .value(let expected) = change.expectation, let stored, stored.utf8.elementsEqual(expected.utf8) { return }
    if case .absent = change.expectation, stored == nil { return }
    throw CommitError(
      .recordChanged(kind: change.kind, key: change.key, value: stored),
      "The record \(change.kind)/\(change.key) is not what the request expects. Read it again and retry.")
  }

  /// Applies the operations in order, unjudged.
  private func apply(_ request: CommitRequest, at time: Int64, to tree: inout TreeAssignment) throws(CommitError)
    -> [TreeNode]
  {
    try checkExpectations(of: request, tree: tree)
    var resolved: [TreeNode] = []
    for operation in request.operations {
      try checkHash(of: operation, tree: tree)
      resolved += try tree.apply(operation.assignments, at: time)
    }
    return resolved
  }

  /// Refuses a request whose author saw another tree than this one.
  func checkExpectations(of request: CommitRequest, tree: TreeAssignment) throws(CommitError) {
    for expectation in request.preconditions.expectations {
      let node = try currentNode(PathBytes(expectation.path), tree: tree)
      guard node == expectation.node else {
        throw CommitError(.stale(node), "\(expectation.path) has changed since it was read. Read it again and retry.")
      }
    }
    for subtree in request.preconditions.unwritten { try check(subtree, tree) }
    for subtree in request.preconditions.unchanged { try checkCommits(since: subtree, tree: tree) }
  }

  /// Refuses an operation that meets another value than it expects.
  func checkHash(of operation: WriteOperation, tree: TreeAssignment) throws(CommitError) {
    guard let expected = operation.expectedHash else { return }
    let node = try currentNode(PathBytes(operation.path), tree: tree)
    guard node.matches(dataHash: expected) else {
      throw CommitError(.stale(node), "\(operation.path) is not what the request expects. Read it again and retry.")
    }
  }

  private func check(_ subtree: CommitRequest.Unwritten, _ tree: TreeAssignment) throws(CommitError) {
    let leaves = try refusing { () throws(StorageError) in
      try tree.session.leaves(in: tree.namespace, under: PathBytes(subtree.path), limit: limits.leavesMax + 1)
    }
    guard leaves.count <= limits.leavesMax else { throw .tooLarge }
    if leaves.contains(where: { $0.revision > subtree.since }) {
      throw CommitError(.stale(.absent), "\(subtree.path) has been written to since it was read. Read it again and retry.")
    }
  }

  /// Commits that one condition looks at: other requests wait meanwhile.
  private static let commitsLookedAt: Int64 = 1000

  /// Refuses where a commit since changed something in the subtree.
  private func checkCommits(since subtree: CommitRequest.Unwritten, tree: TreeAssignment) throws(CommitError) {
    let path = PathBytes(subtree.path)
    let (first, last) = (subtree.since.rawValue + 1, tree.revision.previous.rawValue)
    guard first <= last else { return }
    guard last - first < Self.commitsLookedAt else {
      throw CommitError(.stale(.absent), "Too much was written since revision \(subtree.since). Read it again and retry.")
    }
    for number in first...last {
      let commit = try refusing { () throws(StorageError) in
        try tree.session.commit(in: tree.namespace, at: Revision(number))
      }
      guard let changes = commit?.changes, !changes.contains(where: { path.contains($0.path) }) else {
        throw CommitError(
          .stale(.absent), "\(subtree.path) was changed by revision \(number), after \(subtree.since). Read it again and retry."
        )
      }
    }
  }

  private func currentNode(_ path: PathBytes, tree: TreeAssignment) throws(CommitError) -> TreeNode {
    let leaves = try refusing { () throws(StorageError) in
      try tree.session.leaves(in: tree.namespace, under: path, limit: limits.leavesMax + 1)
    }
    guard leaves.count <= limits.leavesMax else { throw .tooLarge }
    guard let node = TreeNode(leaves: leaves.map(\.leaf), at: path) else {
      throw CommitError(StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup."))
    }
    return node
  }

  private func append(_ draft: CommitDraft, to session: any CommitSession) {
    let request = draft.request
    let digest = CommitRecord.digest(of: draft.changes)
    let hash = CommitRecord.chainHash(
      previous: draft.head.commitHash, epoch: draft.epoch, revision: draft.revision, time: draft.time, actor: request.actor,
      requestID: request.log.requestID, cause: request.log.cause, suppressesTriggers: request.triggers.areSuppressed,
      digest: digest)
    session.append(
      CommitRecord(
        namespace: request.namespace, epoch: draft.epoch, revision: draft.revision, time: draft.time, actor: request.actor,
        requestID: request.log.requestID, cause: request.log.cause, suppressesTriggers: request.triggers.areSuppressed,
        changes: draft.changes, digest: digest, hash: hash))
    for event in draft.events { session.append(event) }
    var head = draft.head
    head.revision = draft.revision
    head.time = draft.time
    head.commitHash = hash
    session.setHead(head, of: request.namespace)
  }

  /// The rows that ride along: the end of a function's run, deliveries, messages, the answer to a keyed request.
  private func putRecords(of request: CommitRequest, receipt: CommitReceipt, in session: any CommitSession) {
    let namespace = request.namespace
    if var execution = request.triggers.execution {
      execution.effect = receipt.changed ? receipt.revision : nil
      session.put(execution, in: namespace)
    }
    if let settled = request.triggers.settles { session.removeDelivery(of: settled.event, to: settled.function, in: namespace) }
    for delivery in request.triggers.deliveries { session.put(delivery, in: namespace) }
    for message in request.rows.outbox { session.put(message, in: namespace) }
    for function in request.triggers.functions { session.put(function) }
    if let audit = request.log.audit { session.append(audit) }
    if let upkeep = request.rows.maintenance { session.put(upkeep, in: namespace) }
    for change in request.rows.records { session.put(change, in: namespace) }
    if let revision = request.triggers.settledRevision { session.setSettledRevision(revision, of: namespace) }
    if let idempotency = request.idempotency {
      // Who changed nothing has no commit: under someone else's, an erasure would not find the answer.
      session.put(
        IdempotencyRecord(
          key: idempotency.key, requestDigest: idempotency.requestDigest,
          revision: receipt.changed ? receipt.revision : .zero, answer: idempotency.answer(receipt),
          expiresAt: receipt.time + idempotency.lifetime), in: namespace)
    }
  }
}

extension WritePipeline {
  /// The rules that a request is judged by; nil if none apply to the caller, or if there are none. What holds without rules is
  /// decided by the surface.
  func rules(for request: CommitRequest) -> RuleSet? {
    switch request.actor {
    case .user, .anonymous: catalog.ruleSet(of: request.namespace)
    case .admin, .function, .system: nil
    }
  }

  /// Checks a request's operations and applies them, each on what those before it left.
  ///
  /// Nothing of an operation is staged before its rules allow it, and nothing else that is wrong with it is told before: what
  /// that is may depend on the data, which is for those who may write there.
  func applyEvaluated(_ request: CommitRequest, by rules: RuleSet, at time: Int64, to tree: inout TreeAssignment)
    throws(CommitError) -> [TreeNode]
  {
    var resolved: [TreeNode] = []
    if request.operations.isEmpty { try checkExpectations(of: request, tree: tree) }
    for (index, operation) in request.operations.enumerated() {
      try judge(operation, of: request, by: rules, at: time, in: tree.session)
      if index == 0 { try checkExpectations(of: request, tree: tree) }
      try checkHash(of: operation, tree: tree)
      resolved += try tree.apply(operation.assignments, at: time)
    }
    return resolved
  }

  private func judge(
    _ operation: WriteOperation, of request: CommitRequest, by rules: RuleSet, at time: Int64, in session: any CommitSession
  ) throws(CommitError) {
    let tree = ProposedTree(session, request.namespace, operation, at: time)
    let judge = RuleEvaluator(rules, auth: request.access.auth?.json, now: time, tree: tree)
    // Made one by one, as they are asked for: of many the first may be the last.
    let writes = operation.assignments.lazy.map { RuleWrite($0) }
    let isAllowed: Bool
    do throws(RuleTreeError) {
      isAllowed = try judge.mayWrite(writes)
      if let note = request.access.note, !isAllowed || note.isAlwaysWanted {
        let explanation = try judge.explainWrite(writes)
        note.judgement = RuleDecisionNote.RuleDecision(
          operation: explanation.operation, isAllowed: explanation.isAllowed, text: explanation.text,
          rules: explanation.steps.map(\.json))
      }
    } catch {
      throw CommitError(.unavailable, error.message)
    }
    guard isAllowed else { throw .permissionDenied }
  }
}

extension RuleWrite {
  fileprivate init(_ assignment: WriteOperation.Assignment) {
    switch assignment.value {
    case .node(let write): self.init(path: assignment.path, pathBytes: assignment.pathBytes, value: .node(write.node))
    case .priority: self.init(path: assignment.path, value: .priority)
    }
  }
}
