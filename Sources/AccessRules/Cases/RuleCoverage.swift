import TextFormats
import TreeModel

/// Counts what a row of cases made of every rule, and of every condition in it: what was never true or never false is not
/// proved by them.
///
/// Not for several threads.
public final class RuleCoverage {
  /// A rule, and what became of it.
  public struct Row: Sendable {
    /// What it decides.
    public let kind: RuleKind
    /// The rule node, as the file has it: `/users/$uid`.
    public let pattern: String
    /// Where the rule is in the file, from 1.
    public let line: Int
    /// See ``line``.
    public let column: Int
    /// The rule's text.
    public let text: String
    /// How often it was true.
    public let trueCount: Int
    /// How often it was false.
    public let falseCount: Int
    /// How often it could not be evaluated, and so was false.
    public let failedCount: Int
    /// Conditions in it of which something was never seen.
    public let gaps: [Gap]

    /// Whether nothing about it is left to prove.
    public var isCovered: Bool { gaps.isEmpty }
  }

  /// A condition of a rule of which something was never seen.
  public struct Gap: Sendable {
    /// Its text.
    public let text: String
    /// Where it is in the file, from 1.
    public let line: Int
    /// See ``line``.
    public let column: Int
    /// `never judged`, `never true`, `never false`.
    public let what: String
  }

  private struct Tally {
    var trueCount = 0
    var falseCount = 0
    var failedCount = 0
  }

  private var tallies: [ObjectIdentifier: Tally] = [:]

  public init() {}

  /// Every rule of a file with what was noted of it, in the order of the file.
  public func rows(of rules: RuleSet) -> [Row] {
    var rows: [Row] = []
    var waiting = [rules.root]
    while let node = waiting.popLast() {
      for rule in [node.read, node.write, node.validate].compactMap(\.self) { rows.append(row(rule, node: node)) }
      waiting += Array(node.children.values) + [node.wildcard].compactMap(\.self)
    }
    return rows.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
  }

  private func row(_ rule: RuleExpression, node: RuleNode) -> Row {
    let tally = self.tally(rule.term)
    var gaps: [Gap] = []
    collectGaps(rule.term, of: rule, into: &gaps)
    return Row(
      kind: rule.kind, pattern: node.pattern.description, line: rule.line, column: rule.column, text: rule.text,
      trueCount: tally.trueCount, falseCount: tally.falseCount, failedCount: tally.failedCount, gaps: gaps)
  }

  private func tally(_ term: RuleTerm) -> Tally { tallies[ObjectIdentifier(term)] ?? Tally() }

  private func collectGaps(_ term: RuleTerm, of rule: RuleExpression, into gaps: inout [Gap]) {
    let tally = self.tally(term)
    let what: String?
    switch (tally.trueCount, tally.falseCount + tally.failedCount) {
    case (0, 0): what = "never judged"
    case (0, _): what = "never true"
    case (_, 0): what = "never false"
    default: what = nil
    }
    switch term.operation {
    case .constant:
      // One that is written as true or false is never anything else.
      if what == "never judged" { gaps.append(gap(term, rule: rule, what: "never judged")) }
    case .all, .any, .not, .choice:
      // What is said of a whole is said of its parts, and of them more exactly; but a part that nobody asked is told once.
      if what == "never judged" { return gaps.append(gap(term, rule: rule, what: "never judged")) }
      for operand in term.operands where operand.type == .bool || operand.type.isSuperset(of: .bool) {
        collectGaps(operand, of: rule, into: &gaps)
      }
    default: if let what { gaps.append(gap(term, rule: rule, what: what)) }
    }
  }

  private func gap(_ term: RuleTerm, rule: RuleExpression, what: String) -> Gap {
    let position = rule.position(of: term.range.lowerBound)
    return Gap(text: rule.text(of: term).onOneLine, line: position.line, column: position.column, what: what)
  }
}

extension RuleCoverage: RuleRecording, RuleObserver {
  func note(_ term: RuleTerm, _ value: RuleValue) {
    guard case .scalar(.bool(let isTrue)) = value else { return }
    tallies[ObjectIdentifier(term), default: Tally()].trueCount += isTrue ? 1 : 0
    tallies[ObjectIdentifier(term), default: Tally()].falseCount += isTrue ? 0 : 1
  }

  func note(_ term: RuleTerm, failed: EvaluationError) {
    tallies[ObjectIdentifier(term), default: Tally()].failedCount += 1
  }

  func begin(_ rule: RuleExpression) -> (any RuleRecording)? { self }

  func end(_ rule: RuleExpression, of node: RuleNode, at pathBytes: PathBytes, result: Result<Bool, EvaluationError>) {}
}
