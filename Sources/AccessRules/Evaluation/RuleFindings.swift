import TextFormats
import TreeModel

/// Finds the parts that made a rule false, and what they looked at.
struct RuleFindings {
  private static let valuesMax = 8
  private static let valueLengthMax = 80

  let rule: RuleExpression
  let memory: TermValues

  /// Why a part was false.
  func reasons(of term: RuleTerm) -> [RuleExplanation.Finding] {
    switch term.operation {
    case .all:
      // The first that is false ends a chain of &&.
      for operand in term.operands where memory[operand]?.isFalse == true { return reasons(of: operand) }
    case .any: return term.operands.flatMap { reasons(of: $0) }
    case .choice:
      if let taken = term.operands.dropFirst().first(where: { memory[$0]?.isFalse == true }) {
        let inner = reasons(of: taken)
        return [finding(term.operands[0], outcome: memory[term.operands[0]]?.isFalse == true ? .isFalse : .isTrue)] + inner
      }
    default: break
    }
    return [finding(term)]
  }

  /// Why a rule could not be evaluated.
  func reason(of error: EvaluationError) -> RuleExplanation.Finding {
    finding(error.term ?? rule.term, outcome: .failed(error.message))
  }

  private func finding(_ term: RuleTerm, outcome: RuleExplanation.Outcome = .isFalse) -> RuleExplanation.Finding {
    let position = rule.position(of: term.range.lowerBound)
    var values: [RuleExplanation.Value] = []
    collect(term, isTop: true, into: &values)
    return RuleExplanation.Finding(
      text: rule.text(of: term), line: position.line, column: position.column, outcome: outcome, values: values)
  }

  /// What the part looked at: values that stand for something, not the calculations between them.
  private func collect(_ term: RuleTerm, isTop: Bool, into values: inout [RuleExplanation.Value]) {
    switch term.operation {
    case .constant, .root, .data, .newData, .parent: break
    case .auth, .uid, .now, .key, .query, .member, .index, .length, .look, .text, .child, .hasChild, .hasChildren, .matches:
      if !isTop || !term.isBoolean { note(term, into: &values) }
    case .not, .minus, .plus, .arithmetic, .equal, .order, .all, .any, .choice: break
    }
    if term.isChainOfMembers { return }
    for operand in term.operands { collect(operand, isTop: false, into: &values) }
  }

  private func note(_ term: RuleTerm, into values: inout [RuleExplanation.Value]) {
    guard values.count < Self.valuesMax, let value = memory[term], let text = Self.text(of: value) else { return }
    let shown = RuleExplanation.Value(text: rule.text(of: term), value: text)
    if !values.contains(shown) { values.append(shown) }
  }

  private static func text(of value: RuleValue) -> String? {
    var writer = JSONWriter()
    switch value {
    case .null: writer.null()
    case .scalar(.double(let number)) where !number.isFinite: return Scalar.double(number).text
    case .scalar(let scalar): writer.scalar(scalar)
    case .map: return "{…}"
    case .json(let json): writer.write(json)
    case .snapshot: return nil
    }
    let text = String(decoding: writer.bytes, as: UTF8.self)
    return text.count > valueLengthMax ? text.prefix(valueLengthMax) + "…" : text
  }
}

extension RuleTerm {
  fileprivate var isBoolean: Bool { type == .bool }

  /// Whether it is `auth` or a member of it: what lies inside it need not be shown too.
  fileprivate var isChainOfMembers: Bool {
    switch operation {
    case .member: true
    default: false
    }
  }
}
