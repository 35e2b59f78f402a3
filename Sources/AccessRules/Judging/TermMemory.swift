/// What the parts of one rule were when it was judged.
final class TermMemory: RuleRecording {
  private var values: [ObjectIdentifier: RuleValue] = [:]

  func clear() { values.removeAll(keepingCapacity: true) }

  func note(_ term: RuleTerm, _ value: RuleValue) { values[ObjectIdentifier(term)] = value }

  func note(_ term: RuleTerm, failed: RuleFailure) {}

  subscript(_ term: RuleTerm) -> RuleValue? { values[ObjectIdentifier(term)] }
}
