import AccessRules
import StorageCore
import TreeModel

extension WritePipeline {
  /// The rules that a request is judged by; nil if none apply to who asks, or if there are none. What holds without rules is
  /// decided at the door.
  func rules(for request: CommitRequest) -> RuleSet? {
    switch request.actor {
    case .user, .anonymous: catalog.ruleSet(of: request.namespace)
    case .admin, .function, .system: nil
    }
  }

  /// Applies a request's operations, and takes nothing from a client's not knowing the rules: whoever may not write there is
  /// told just that, whatever stands there (spec: rtdb-protocol §3.8).
  func applyJudged(_ request: CommitRequest, by rules: RuleSet, at time: Int64, to tree: inout TreeAssignment)
    throws(CommitRefusal) -> [TreeNode]
  {
    let mark = tree.session.mark()
    var stale: CommitRefusal?
    let resolved: [TreeNode]
    do throws(CommitRefusal) {
      resolved = try apply(request, at: time, to: &tree) { refusal in stale = stale ?? refusal }
    } catch {
      // What is wrong with the write may depend on the data: that is for those who may write there.
      tree.session.rollback(to: mark)
      let places = request.operations.flatMap { $0.assignments.map { RuleWrite(path: $0.path, value: .node(.absent)) } }
      try judge(
        places, of: request, by: rules, at: time,
        on: JudgedTree(tree.session, request.namespace, changes: [], writes: []))
      throw error
    }
    let assignments = request.operations.flatMap(\.assignments)
    let writes = zip(assignments, resolved).map { assignment, node in
      if case .priority = assignment.value { return RuleWrite(path: assignment.path, value: .priority) }
      return RuleWrite(path: assignment.path, value: .node(node))
    }
    let judged = JudgedTree(
      tree.session, request.namespace, changes: tree.changes.finished(), writes: request.operations.count == 1 ? writes : [])
    try judge(writes, of: request, by: rules, at: time, on: judged)
    if let stale { throw stale }
    return resolved
  }

  private func judge(
    _ writes: [RuleWrite], of request: CommitRequest, by rules: RuleSet, at time: Int64, on tree: JudgedTree
  ) throws(CommitRefusal) {
    let judge = RuleJudge(rules, auth: request.auth?.json, now: time, tree: tree)
    let isAllowed: Bool
    do throws(RuleTreeFault) {
      isAllowed = try judge.mayWrite(writes)
      if let note = request.judgement, !isAllowed || note.isAlwaysWanted {
        let explanation = try judge.explainWrite(writes)
        note.judgement = JudgementNote.Judgement(isAllowed: isAllowed, text: explanation.text, json: explanation.json)
      }
    } catch {
      throw CommitRefusal(.unavailable, error.message)
    }
    guard isAllowed else { throw .permissionDenied }
  }
}
