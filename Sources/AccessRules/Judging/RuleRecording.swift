/// Who wants to know what every part of a rule was: explanations and coverage.
protocol RuleRecording: AnyObject {
  func note(_ term: RuleTerm, _ value: RuleValue)
  func note(_ term: RuleTerm, failed: RuleFailure)
}
