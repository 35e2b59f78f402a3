public import TreeModel

/// Why an operation was allowed or denied: every rule that was asked, and of those that were false the part that decided.
public struct RuleExplanation: Sendable {
  /// A rule that was asked.
  public struct Step: Sendable {
    /// What it decides.
    public let kind: RuleKind
    /// The rule node, as the file has it: `/users/$uid`.
    public let pattern: String
    /// The place in the tree: `/users/bob`.
    public let path: Path
    /// Where the rule is in the file, from 1.
    public let line: Int
    /// See ``line``.
    public let column: Int
    /// The rule's text.
    public let text: String
    /// Whether it was true.
    public let isTrue: Bool
    /// The parts that made it false; none of a rule that was true.
    public let findings: [Finding]
  }

  /// A part of a rule that decided.
  public struct Finding: Sendable {
    /// Its text.
    public let text: String
    /// Where it is in the file, from 1.
    public let line: Int
    /// See ``line``.
    public let column: Int
    /// What it was: false, true (the condition of a choice), or why it could not be evaluated.
    public let outcome: Outcome
    /// What it looked at: the text of each smaller part, and what that was.
    public let values: [Value]
  }

  /// How the evaluation of a part ended.
  public enum Outcome: Sendable, Hashable {
    case isFalse
    case isTrue
    /// It could not be evaluated, which makes the whole rule false.
    case failed(String)
  }

  /// What a part of a rule was.
  public struct Value: Sendable, Hashable {
    /// The part's text.
    public let text: String
    /// What it was, as JSON; a long one is cut.
    public let value: String
  }

  /// What was asked for, as a phrase: `write /users/bob/level`.
  public let operation: String
  /// Whether it was allowed.
  public let isAllowed: Bool
  /// The rules that were asked, in order.
  public let steps: [Step]

  /// One paragraph for people, on several lines.
  public var text: String {
    var lines = ["\(isAllowed ? "Allowed" : "Denied"): \(operation)"]
    for step in decisive { lines += step.lines }
    if !isAllowed, decisive.isEmpty {
      lines.append("  No rule on the way from / to there allows it, and what no rule allows is denied.")
    }
    return lines.joined(separator: "\n")
  }

  /// The rules that decided: the one that allowed, or all that did not.
  public var decisive: [Step] {
    let valid = steps.filter { $0.kind == .validate && !$0.isTrue }
    if !valid.isEmpty { return valid }
    return steps.filter { $0.kind != .validate && $0.isTrue == isAllowed }
  }
}

extension RuleExplanation.Step {
  fileprivate var lines: [String] {
    let location = pattern == path.description ? "" : " (\(path))"
    var lines = [
      "  \(line):\(column) \(kind.rawValue) of \(pattern)\(location) is \(isTrue ? "true" : "false"): \(text.onOneLine)"
    ]
    for finding in findings {
      if finding.text != text || finding.outcome != .isFalse {
        lines.append("    \(finding.line):\(finding.column) \(finding.text.onOneLine) \(finding.outcome.text)")
      }
      for value in finding.values { lines.append("      \(value.text.onOneLine) = \(value.value)") }
    }
    return lines
  }
}

extension RuleExplanation.Outcome {
  /// Behind the part's text.
  var text: String {
    switch self {
    case .isFalse: "is false"
    case .isTrue: "is true"
    case .failed(let message): message
    }
  }
}

extension String {
  /// The text with its line breaks and indentation made spaces.
  var onOneLine: String {
    split { $0 == "\n" || $0 == "\r" || $0 == "\r\n" || $0 == "\t" || $0 == " " }.joined(separator: " ")
  }
}

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
  /// The rule, and what it looked at, for programs.
  public var json: JSON {
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
