import TreeModel

/// Watches a judgement for the sake of an explanation.
final class RuleTrace: RuleWitness {
  /// Of how many rules an explanation speaks: the last ones decide, so the first are kept back if there are more.
  private static let stepsMax = 200

  private(set) var steps: [RuleExplanation.Step] = []
  private let memory = TermMemory()

  func begin(_ rule: RuleExpression) -> (any RuleRecording)? {
    memory.clear()
    return memory
  }

  func end(_ rule: RuleExpression, of node: RuleNode, at place: PathBytes, _ result: Result<Bool, RuleFailure>) {
    var isTrue = false
    var findings: [RuleExplanation.Finding] = []
    switch result {
    case .success(true): isTrue = true
    case .success(false): findings = RuleFindings(rule: rule, memory: memory).reasons(of: rule.term)
    case .failure(let failure): findings = [RuleFindings(rule: rule, memory: memory).reason(of: failure)]
    }
    if steps.count >= Self.stepsMax { steps.removeFirst() }
    steps.append(
      RuleExplanation.Step(
        kind: rule.kind, pattern: node.pattern.description, path: place.path ?? .root, line: rule.line, column: rule.column,
        text: rule.text, isTrue: isTrue, findings: findings))
  }
}
