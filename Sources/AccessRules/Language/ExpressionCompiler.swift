import TreeModel

/// Checks what was read, and makes it ready to be judged (spec: rtdb-protocol §4.1).
struct ExpressionCompiler {
  /// What a rule may look at depends on what it decides.
  let kind: RuleKind
  /// On which level of the path each variable stands.
  let variables: [String: Int]
  /// The text, for its regular expressions.
  let bytes: [UInt8]

  /// A rule: something that is true or false.
  static func compile(_ text: String, _ kind: RuleKind, variables: [String: Int]) throws(ExpressionFault) -> RuleTerm {
    let syntax = try ExpressionParser.parse(text)
    let compiler = ExpressionCompiler(kind: kind, variables: variables, bytes: Array(text.utf8))
    let term = try compiler.term(syntax)
    guard term.type == .bool else {
      throw ExpressionFault(
        at: syntax.range.lowerBound,
        "A rule must be a boolean\(term.type.isSingle ? ", not \(term.type.name)" : ""); compare it with something.")
    }
    return term
  }

  func term(_ syntax: Syntax) throws(ExpressionFault) -> RuleTerm {
    let range = syntax.range
    switch syntax.kind {
    case .constant(let value): return RuleTerm(.constant(value), type: value.type, range: range)
    case .name(let name): return try named(name, range)
    case .variable(let name):
      guard let level = variables[name] else {
        throw ExpressionFault(at: range.lowerBound, "Unknown variable \(name); it must be a key on the way to this rule.")
      }
      return RuleTerm(.key(level), type: .string, range: range)
    case .member(let target, let name): return try member(of: try term(target), name, range)
    case .index(let target, let index): return try self.index(of: try term(target), index, range)
    case .call(let callee, let arguments): return try call(callee, arguments, range)
    case .list: throw ExpressionFault(at: range.lowerBound, "A list can only be given to hasChildren.")
    case .pattern: throw ExpressionFault(at: range.lowerBound, "A regular expression can only be given to matches.")
    case .not(let operand): return RuleTerm(.not, [try boolean(operand, "The operand of !")], type: .bool, range: range)
    case .minus(let operand):
      return RuleTerm(.minus, [try self.operand(operand, .number, "The operand of -", "a number")], type: .number, range: range)
    case .binary(let mark, let left, let right): return try binary(mark, left, right, range)
    case .chain("+", let operands): return try sum(operands, range)
    case .chain(let mark, let operands):
      let terms = try operands.map { (part) throws(ExpressionFault) in try boolean(part, "An operand of \(mark)") }
      return RuleTerm(mark == "&&" ? .all : .any, terms, type: .bool, range: range)
    case .choice(let condition, let yes, let no):
      let terms = [try boolean(condition, "The condition of ?:"), try value(yes), try value(no)]
      return RuleTerm(.choice, terms, type: terms[1].type.union(terms[2].type), range: range)
    }
  }

  private func named(_ name: String, _ range: Range<Int>) throws(ExpressionFault) -> RuleTerm {
    switch name {
    case "auth": return RuleTerm(.auth, type: .any, range: range)
    case "now": return RuleTerm(.now, type: .number, range: range)
    case "root": return RuleTerm(.root, type: .snapshot, range: range)
    case "data": return RuleTerm(.data, type: .snapshot, range: range)
    case "newData":
      guard kind != .read else {
        throw ExpressionFault(at: range.lowerBound, "newData is what a write would make; a .read rule has only data and root.")
      }
      return RuleTerm(.newData, type: .snapshot, range: range)
    case "query":
      guard kind == .read else {
        throw ExpressionFault(at: range.lowerBound, "query is what a client reads; only .read rules have it.")
      }
      return RuleTerm(.constant(.null), type: .query, range: range)
    default:
      throw ExpressionFault(
        at: range.lowerBound,
        "Unknown name \(name); there are auth, now, root, data, newData, query and path variables ($name).")
    }
  }

  // MARK: What operands may be

  /// Something with a value.
  private func value(_ syntax: Syntax) throws(ExpressionFault) -> RuleTerm {
    let term = try term(syntax)
    guard !term.type.meets(.noValue) else {
      throw ExpressionFault(
        at: syntax.range.lowerBound,
        term.type == .snapshot ? "A snapshot is no value; take its val(), or ask exists()." : "This is no value.")
    }
    return term
  }

  func operand(_ syntax: Syntax, _ type: RuleType, _ what: String, _ wanted: String) throws(ExpressionFault) -> RuleTerm {
    let term = try value(syntax)
    guard term.type.meets(type) else {
      throw ExpressionFault(at: syntax.range.lowerBound, "\(what) must be \(wanted), not \(term.type.name).")
    }
    return term
  }

  private func boolean(_ syntax: Syntax, _ what: String) throws(ExpressionFault) -> RuleTerm {
    try operand(syntax, .bool, what, "a boolean")
  }

  // MARK: Operators

  private func sum(_ operands: [Syntax], _ range: Range<Int>) throws(ExpressionFault) -> RuleTerm {
    let terms = try operands.map { (part) throws(ExpressionFault) in
      try operand(part, [.number, .string], "An operand of +", "a number or a string")
    }
    let type: RuleType =
      if terms.allSatisfy({ $0.type == .number }) { .number } else if terms.contains(where: { $0.type == .string }) {
        .string
      } else { [.number, .string] }
    return RuleTerm(.plus, terms, type: type, range: range)
  }

  private func binary(_ mark: String, _ left: Syntax, _ right: Syntax, _ range: Range<Int>) throws(ExpressionFault) -> RuleTerm
  {
    if let order = RuleTerm.Order(rawValue: mark) {
      let wanted: RuleType = [.number, .string]
      let terms = [
        try operand(left, wanted, "The left side of \(mark)", "a number or a string"),
        try operand(right, wanted, "The right side of \(mark)", "a number or a string"),
      ]
      guard terms[0].type.intersection(wanted).meets(terms[1].type) else {
        throw ExpressionFault(at: range.lowerBound, "\(mark) compares two numbers or two strings, not one with the other.")
      }
      return RuleTerm(.order(order), terms, type: .bool, range: range)
    }
    if let arithmetic = RuleTerm.Arithmetic(rawValue: mark) {
      let terms = [
        try operand(left, .number, "The left side of \(mark)", "a number"),
        try operand(right, .number, "The right side of \(mark)", "a number"),
      ]
      return RuleTerm(.arithmetic(arithmetic), terms, type: .number, range: range)
    }
    let terms = [try value(left), try value(right)]
    return RuleTerm(.equal(isNegated: mark.utf8.first == UInt8(ascii: "!")), terms, type: .bool, range: range)
  }
}

extension RuleType {
  /// Whether it is one kind, and so has a name.
  var isSingle: Bool { rawValue.nonzeroBitCount == 1 }
}

extension RuleValue {
  /// The type of a constant.
  fileprivate var type: RuleType {
    switch self {
    case .null: .null
    case .scalar(.bool): .bool
    case .scalar(.int), .scalar(.double): .number
    case .scalar(.string): .string
    case .map: .map
    case .json: .object
    case .snapshot: .snapshot
    }
  }
}
