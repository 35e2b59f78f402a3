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

  /// Judges a request's operations and applies them, each on what those before it left.
  ///
  /// Nothing of an operation is staged before its rules allow it, and nothing else that is wrong with it is told before: what
  /// that is may depend on the data, which is for those who may write there.
  func applyJudged(_ request: CommitRequest, by rules: RuleSet, at time: Int64, to tree: inout TreeAssignment)
    throws(CommitRefusal) -> [TreeNode]
  {
    var resolved: [TreeNode] = []
    if request.operations.isEmpty { try checkExpectations(of: request, tree) }
    for (index, operation) in request.operations.enumerated() {
      try judge(operation, of: request, by: rules, at: time, in: tree.session)
      if index == 0 { try checkExpectations(of: request, tree) }
      try checkHash(of: operation, tree)
      resolved += try tree.apply(operation.assignments, at: time)
    }
    return resolved
  }

  private func judge(
    _ operation: WriteOperation, of request: CommitRequest, by rules: RuleSet, at time: Int64, in session: any WriteSession
  ) throws(CommitRefusal) {
    let tree = ProposedTree(session, request.namespace, operation, at: time)
    let judge = RuleJudge(rules, auth: request.auth?.json, now: time, tree: tree)
    // Made one by one, as they are asked for: of many the first may be the last.
    let writes = operation.assignments.lazy.map { RuleWrite($0) }
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

extension RuleWrite {
  fileprivate init(_ assignment: WriteOperation.Assignment) {
    switch assignment.value {
    case .node(let write): self.init(path: assignment.path, place: assignment.place, value: .node(write.node))
    case .priority: self.init(path: assignment.path, value: .priority)
    }
  }
}
