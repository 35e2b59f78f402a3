public import TreeModel

extension RuleExplanation {
  /// The explanation for programs.
  public var json: JSON {
    [
      "operation": .string(operation), "allowed": .bool(isAllowed), "text": .string(text),
      "rules": .array(steps.map(\.json)),
    ]
  }
}

extension RuleExplanation.Step {
  fileprivate var json: JSON {
    [
      "kind": .string(kind.rawValue), "pattern": .string(pattern), "path": .string(path.description), "line": .int(Int64(line)),
      "column": .int(Int64(column)), "text": .string(text), "value": .bool(isTrue), "because": .array(findings.map(\.json)),
    ]
  }
}

extension RuleExplanation.Finding {
  fileprivate var json: JSON {
    [
      "text": .string(text), "line": .int(Int64(line)), "column": .int(Int64(column)),
      "outcome": .string(outcome.text),
      "values": .array(values.map { ["text": .string($0.text), "value": .string($0.value)] }),
    ]
  }
}
