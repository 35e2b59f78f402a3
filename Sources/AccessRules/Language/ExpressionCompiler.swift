import TextFormats
import TreeModel

/// Checks the syntax tree of an expression and compiles it into terms.
struct ExpressionCompiler {
  /// What a rule may look at depends on what it decides.
  let kind: RuleKind
  /// On which level of the path each variable stands.
  let variables: [String: Int]
  /// The text, for its regular expressions.
  let bytes: [UInt8]

  static func compile(_ text: String, kind: RuleKind, variables: [String: Int]) throws(ExpressionError) -> RuleTerm {
    let syntax = try ExpressionParser.parse(text)
    let compiler = ExpressionCompiler(kind: kind, variables: variables, bytes: Array(text.utf8))
    let term = try compiler.term(syntax)
    guard term.type == .bool else {
      throw ExpressionError(
        at: syntax.range.lowerBound,
        "A rule must be a boolean\(term.type.isSingle ? ", not \(term.type.name)" : ""); compare it with something.")
    }
    return term
  }

  func term(_ syntax: Syntax) throws(ExpressionError) -> RuleTerm {
    let range = syntax.range
    switch syntax.kind {
    case .constant(let value): return RuleTerm(.constant(value), type: value.type, range: range)
    case .name(let name): return try named(name, range: range)
    case .variable(let name):
      guard let level = variables[name] else {
        throw ExpressionError(at: range.lowerBound, "Unknown variable \(name); it must be a key on the way to this rule.")
      }
      return RuleTerm(.key(level), type: .string, range: range)
    case .member(let target, let name): return try member(of: try term(target), name: name, range: range)
    case .index(let target, let index): return try self.index(of: try term(target), index: index, range: range)
    case .call(let callee, let arguments): return try call(callee, arguments: arguments, range: range)
    case .list: throw ExpressionError(at: range.lowerBound, "A list can only be given to hasChildren.")
    case .pattern: throw ExpressionError(at: range.lowerBound, "A regular expression can only be given to matches.")
    case .not(let operand): return RuleTerm(.not, [try boolean(operand, what: "The operand of !")], type: .bool, range: range)
    case .minus(let operand):
      return RuleTerm(
        .minus, [try self.operand(operand, type: .number, what: "The operand of -", wanted: "a number")], type: .number,
        range: range)
    case .binary(let mark, let left, let right): return try binary(mark, left: left, right: right, range: range)
    case .chain("+", let operands): return try sum(operands, range: range)
    case .chain(let mark, let operands):
      let terms = try operands.map { (part) throws(ExpressionError) in try boolean(part, what: "An operand of \(mark)") }
      return RuleTerm(mark == "&&" ? .all : .any, terms, type: .bool, range: range)
    case .choice(let condition, let yes, let no):
      let terms = [try boolean(condition, what: "The condition of ?:"), try value(yes), try value(no)]
      return RuleTerm(.choice, terms, type: terms[1].type.union(terms[2].type), range: range)
    }
  }

  private func named(_ name: String, range: Range<Int>) throws(ExpressionError) -> RuleTerm {
    switch name {
    case "auth": return RuleTerm(.auth, type: .any, range: range)
    case "now": return RuleTerm(.now, type: .number, range: range)
    case "root": return RuleTerm(.root, type: .snapshot, range: range)
    case "data": return RuleTerm(.data, type: .snapshot, range: range)
    case "newData":
      guard kind != .read else {
        throw ExpressionError(at: range.lowerBound, "newData is what a write would make; a .read rule has only data and root.")
      }
      return RuleTerm(.newData, type: .snapshot, range: range)
    case "query":
      guard kind == .read else {
        throw ExpressionError(at: range.lowerBound, "query is what a client reads; only .read rules have it.")
      }
      return RuleTerm(.constant(.null), type: .query, range: range)
    default:
      throw ExpressionError(
        at: range.lowerBound,
        "Unknown name \(name); there are auth, now, root, data, newData, query and path variables ($name).")
    }
  }

  // MARK: What operands may be

  private func value(_ syntax: Syntax) throws(ExpressionError) -> RuleTerm {
    let term = try term(syntax)
    guard !term.type.meets(.noValue) else {
      throw ExpressionError(
        at: syntax.range.lowerBound,
        term.type == .snapshot ? "A snapshot is no value; take its val(), or ask exists()." : "This is no value.")
    }
    return term
  }

  func operand(_ syntax: Syntax, type: RuleType, what: String, wanted: String) throws(ExpressionError) -> RuleTerm {
    let term = try value(syntax)
    guard term.type.meets(type) else {
      throw ExpressionError(at: syntax.range.lowerBound, "\(what) must be \(wanted), not \(term.type.name).")
    }
    return term
  }

  private func boolean(_ syntax: Syntax, what: String) throws(ExpressionError) -> RuleTerm {
    try operand(syntax, type: .bool, what: what, wanted: "a boolean")
  }

  // MARK: Operators

  private func sum(_ operands: [Syntax], range: Range<Int>) throws(ExpressionError) -> RuleTerm {
    let terms = try operands.map { (part) throws(ExpressionError) in
      try operand(part, type: [.number, .string], what: "An operand of +", wanted: "a number or a string")
    }
    let type: RuleType =
      if terms.allSatisfy({ $0.type == .number }) { .number } else if terms.contains(where: { $0.type == .string }) {
        .string
      } else { [.number, .string] }
    return RuleTerm(.plus, terms, type: type, range: range)
  }

  private func binary(_ mark: String, left: Syntax, right: Syntax, range: Range<Int>) throws(ExpressionError) -> RuleTerm {
    if let order = RuleTerm.Order(rawValue: mark) {
      let wanted: RuleType = [.number, .string]
      let terms = [
        try operand(left, type: wanted, what: "The left side of \(mark)", wanted: "a number or a string"),
        try operand(right, type: wanted, what: "The right side of \(mark)", wanted: "a number or a string"),
      ]
      guard terms[0].type.intersection(wanted).meets(terms[1].type) else {
        throw ExpressionError(at: range.lowerBound, "\(mark) compares two numbers or two strings, not one with the other.")
      }
      return RuleTerm(.order(order), terms, type: .bool, range: range)
    }
    if let arithmetic = RuleTerm.Arithmetic(rawValue: mark) {
      let terms = [
        try operand(left, type: .number, what: "The left side of \(mark)", wanted: "a number"),
        try operand(right, type: .number, what: "The right side of \(mark)", wanted: "a number"),
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

extension ExpressionCompiler {
  /// `target.name`, without a call.
  func member(of target: RuleTerm, name: String, range: Range<Int>) throws(ExpressionError) -> RuleTerm {
    let type = target.type
    if type == .query {
      guard let property = RuleQuery.Property(rawValue: name) else {
        let known = RuleQuery.Property.allCases.map(\.rawValue).joined(separator: ", ")
        throw ExpressionError(at: range.lowerBound, "The query has no \(name); it has \(known).")
      }
      return RuleTerm(.query(property), type: property.type, range: range)
    }
    if case .auth = target.operation, name == "uid" { return RuleTerm(.uid, type: .any, range: range) }
    if type.meets(.object) { return RuleTerm(.member(name), [target], type: .any, range: range) }
    if Self.methods(of: type).contains(name) {
      throw ExpressionError(at: range.lowerBound, "\(name) is a method: call it with parentheses.")
    }
    if type.meets(.string), name == "length" { return RuleTerm(.length, [target], type: .number, range: range) }
    throw ExpressionError(at: range.lowerBound, Self.unknown(name, of: type))
  }

  /// `target[index]`: a member that is named by a string, or computed where anything may be.
  func index(of target: RuleTerm, index: Syntax, range: Range<Int>) throws(ExpressionError) -> RuleTerm {
    if case .constant(.scalar(.string(let name))) = index.kind { return try member(of: target, name: name, range: range) }
    guard target.type.meets(.object) else {
      throw ExpressionError(
        at: index.range.lowerBound, "Only members of auth can be computed; name this one with a string in quotes.")
    }
    let key = try operand(index, type: [.string, .number], what: "A key", wanted: "a string or a number")
    return RuleTerm(.index, [target, key], type: .any, range: range)
  }

  func call(_ callee: Syntax, arguments: [Syntax], range: Range<Int>) throws(ExpressionError) -> RuleTerm {
    let target: RuleTerm
    let name: String
    switch callee.kind {
    case .member(let part, let member): (target, name) = (try term(part), member)
    case .index(let part, let index):
      guard case .constant(.scalar(.string(let member))) = index.kind else {
        throw ExpressionError(at: index.range.lowerBound, "A method cannot be computed; write its name.")
      }
      (target, name) = (try term(part), member)
    default: throw ExpressionError(at: callee.range.lowerBound, "This is no method; only snapshots and strings have some.")
    }
    if target.type == .snapshot { return try snapshotMethod(name, target: target, arguments: arguments, range: range) }
    guard target.type.meets(.string) else {
      throw ExpressionError(at: range.lowerBound, Self.unknown(name, of: target.type))
    }
    return try textMethod(name, target: target, arguments: arguments, range: range)
  }

  // MARK: Snapshots

  private func snapshotMethod(_ name: String, target: RuleTerm, arguments: [Syntax], range: Range<Int>)
    throws(ExpressionError) -> RuleTerm
  {
    if let look = RuleTerm.Look(rawValue: name) {
      try check(arguments, count: 0...0, of: name, range)
      let type: RuleType =
        switch look {
        case .val: .primitive
        case .getPriority: [.null, .number, .string]
        case .exists, .isString, .isNumber, .isBoolean: .bool
        }
      return RuleTerm(.look(look), [target], type: type, range: range)
    }
    switch name {
    case "child", "hasChild":
      try check(arguments, count: 1...1, of: name, range)
      let path = try operand(arguments[0], type: .string, what: "The path of \(name)", wanted: "a string")
      return name == "child"
        ? RuleTerm(.child, [target, path], type: .snapshot, range: range)
        : RuleTerm(.hasChild, [target, path], type: .bool, range: range)
    case "parent":
      try check(arguments, count: 0...0, of: name, range)
      return RuleTerm(.parent, [target], type: .snapshot, range: range)
    case "hasChildren":
      try check(arguments, count: 0...1, of: name, range)
      let names = try arguments.first.map { (list) throws(ExpressionError) in try childNames(list) } ?? []
      return RuleTerm(.hasChildren, [target] + names, type: .bool, range: range)
    default: throw ExpressionError(at: range.lowerBound, Self.unknown(name, of: .snapshot))
    }
  }

  private func childNames(_ list: Syntax) throws(ExpressionError) -> [RuleTerm] {
    guard case .list(let elements) = list.kind, !elements.isEmpty else {
      throw ExpressionError(
        at: list.range.lowerBound,
        "hasChildren takes a list of strings with at least one, as in hasChildren(['name', 'level']).")
    }
    return try elements.map { (element) throws(ExpressionError) in
      try operand(element, type: .string, what: "A name for hasChildren", wanted: "a string")
    }
  }

  // MARK: Strings

  private func textMethod(_ name: String, target: RuleTerm, arguments: [Syntax], range: Range<Int>)
    throws(ExpressionError) -> RuleTerm
  {
    if name == "matches" {
      try check(arguments, count: 1...1, of: name, range)
      return RuleTerm(.matches(try regex(arguments[0])), [target], type: .bool, range: range)
    }
    guard let method = RuleTerm.TextMethod(rawValue: name) else {
      throw ExpressionError(at: range.lowerBound, Self.unknown(name, of: target.type))
    }
    try check(arguments, count: method.argumentCount...method.argumentCount, of: name, range)
    let terms = try arguments.map { (part) throws(ExpressionError) in
      try operand(part, type: .string, what: "An argument of \(name)", wanted: "a string")
    }
    return RuleTerm(.text(method), [target] + terms, type: method.type, range: range)
  }

  private func regex(_ argument: Syntax) throws(ExpressionError) -> LinearRegex {
    guard case .pattern(let bounds, let flags) = argument.kind else {
      throw ExpressionError(
        at: argument.range.lowerBound, "matches takes a regular expression between slashes, without quotes: matches(/^a+$/).")
    }
    guard flags.isEmpty || flags == "i" else {
      throw ExpressionError(at: bounds.upperBound + 1, "Unknown flags \(flags); the only one is i, for either case.")
    }
    do throws(RegexError) {
      return try RegexParser.regex(String(decoding: bytes[bounds], as: UTF8.self), ignoresCase: flags == "i")
    } catch {
      throw ExpressionError(at: bounds.lowerBound + error.offset, error.message)
    }
  }

  // MARK: Messages

  private func check(_ arguments: [Syntax], count: ClosedRange<Int>, of name: String, _ range: Range<Int>)
    throws(ExpressionError)
  {
    guard !count.contains(arguments.count) else { return }
    let wanted = ["no argument", "one argument", "two arguments"][min(count.upperBound, 2)]
    throw ExpressionError(at: range.lowerBound, "\(name) takes \(wanted), not \(arguments.count).")
  }

  private static func methods(of type: RuleType) -> [String] {
    if type == .snapshot {
      return RuleTerm.Look.allCases.map(\.rawValue) + ["child", "hasChild", "parent", "hasChildren"]
    }
    return type.meets(.string) ? RuleTerm.TextMethod.allCases.map(\.rawValue) + ["matches"] : []
  }

  private static func unknown(_ name: String, of type: RuleType) -> String {
    let methods = methods(of: type).map { $0 + "()" } + (type.meets(.string) ? ["length"] : [])
    let what = type == .snapshot ? "A snapshot" : type.meets(.string) ? "A string" : "This"
    return "\(what) has no \(name)\(methods.isEmpty ? "." : "; it has \(methods.joined(separator: ", ")).")"
  }
}

extension RuleTerm.TextMethod {
  var argumentCount: Int {
    switch self {
    case .contains, .beginsWith, .endsWith: 1
    case .replace: 2
    case .toLowerCase, .toUpperCase: 0
    }
  }

  var type: RuleType {
    switch self {
    case .contains, .beginsWith, .endsWith: .bool
    case .replace, .toLowerCase, .toUpperCase: .string
    }
  }
}
