import TreeModel

/// Who watches a judgement: explanations and coverage.
protocol RuleWitness: AnyObject {
  /// A rule is about to be judged; what is answered is told of its parts.
  func begin(_ rule: RuleExpression) -> (any RuleRecording)?
  /// A rule was judged.
  func end(_ rule: RuleExpression, of node: RuleNode, at place: PathBytes, _ result: Result<Bool, RuleFailure>)
}
