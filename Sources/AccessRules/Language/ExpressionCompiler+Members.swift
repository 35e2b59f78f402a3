import TreeModel

extension ExpressionCompiler {
  /// `target.name`, without a call.
  func member(of target: RuleTerm, _ name: String, _ range: Range<Int>) throws(ExpressionFault) -> RuleTerm {
    let type = target.type
    if type == .query {
      guard let property = RuleQuery.Property(rawValue: name) else {
        let known = RuleQuery.Property.allCases.map(\.rawValue).joined(separator: ", ")
        throw ExpressionFault(at: range.lowerBound, "The query has no \(name); it has \(known).")
      }
      return RuleTerm(.query(property), type: property.type, range: range)
    }
    if case .auth = target.operation, name == "uid" { return RuleTerm(.uid, type: .any, range: range) }
    if type.meets(.object) { return RuleTerm(.member(name), [target], type: .any, range: range) }
    if Self.methods(of: type).contains(name) {
      throw ExpressionFault(at: range.lowerBound, "\(name) is a method: call it with parentheses.")
    }
    if type.meets(.string), name == "length" { return RuleTerm(.length, [target], type: .number, range: range) }
    throw ExpressionFault(at: range.lowerBound, Self.unknown(name, of: type))
  }

  /// `target[index]`: a member that is named by a string, or computed where anything may be.
  func index(of target: RuleTerm, _ index: Syntax, _ range: Range<Int>) throws(ExpressionFault) -> RuleTerm {
    if case .constant(.scalar(.string(let name))) = index.kind { return try member(of: target, name, range) }
    guard target.type.meets(.object) else {
      throw ExpressionFault(
        at: index.range.lowerBound, "Only members of auth can be computed; name this one with a string in quotes.")
    }
    let key = try operand(index, [.string, .number], "A key", "a string or a number")
    return RuleTerm(.index, [target, key], type: .any, range: range)
  }

  func call(_ callee: Syntax, _ arguments: [Syntax], _ range: Range<Int>) throws(ExpressionFault) -> RuleTerm {
    let target: RuleTerm
    let name: String
    switch callee.kind {
    case .member(let part, let member): (target, name) = (try term(part), member)
    case .index(let part, let index):
      guard case .constant(.scalar(.string(let member))) = index.kind else {
        throw ExpressionFault(at: index.range.lowerBound, "A method cannot be computed; write its name.")
      }
      (target, name) = (try term(part), member)
    default: throw ExpressionFault(at: callee.range.lowerBound, "This is no method; only snapshots and strings have some.")
    }
    if target.type == .snapshot { return try snapshotMethod(name, target, arguments, range) }
    guard target.type.meets(.string) else {
      throw ExpressionFault(at: range.lowerBound, Self.unknown(name, of: target.type))
    }
    return try textMethod(name, target, arguments, range)
  }

  // MARK: Snapshots

  private func snapshotMethod(_ name: String, _ target: RuleTerm, _ arguments: [Syntax], _ range: Range<Int>)
    throws(ExpressionFault) -> RuleTerm
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
      let path = try operand(arguments[0], .string, "The path of \(name)", "a string")
      return name == "child"
        ? RuleTerm(.child, [target, path], type: .snapshot, range: range)
        : RuleTerm(.hasChild, [target, path], type: .bool, range: range)
    case "parent":
      try check(arguments, count: 0...0, of: name, range)
      return RuleTerm(.parent, [target], type: .snapshot, range: range)
    case "hasChildren":
      try check(arguments, count: 0...1, of: name, range)
      let names = try arguments.first.map { (list) throws(ExpressionFault) in try childNames(list) } ?? []
      return RuleTerm(.hasChildren, [target] + names, type: .bool, range: range)
    default: throw ExpressionFault(at: range.lowerBound, Self.unknown(name, of: .snapshot))
    }
  }

  private func childNames(_ list: Syntax) throws(ExpressionFault) -> [RuleTerm] {
    guard case .list(let elements) = list.kind, !elements.isEmpty else {
      throw ExpressionFault(
        at: list.range.lowerBound,
        "hasChildren takes a list of strings with at least one, as in hasChildren(['name', 'level']).")
    }
    return try elements.map { (element) throws(ExpressionFault) in
      try operand(element, .string, "A name for hasChildren", "a string")
    }
  }

  // MARK: Strings

  private func textMethod(_ name: String, _ target: RuleTerm, _ arguments: [Syntax], _ range: Range<Int>)
    throws(ExpressionFault) -> RuleTerm
  {
    if name == "matches" {
      try check(arguments, count: 1...1, of: name, range)
      return RuleTerm(.matches(try regex(arguments[0])), [target], type: .bool, range: range)
    }
    guard let method = RuleTerm.TextMethod(rawValue: name) else {
      throw ExpressionFault(at: range.lowerBound, Self.unknown(name, of: target.type))
    }
    try check(arguments, count: method.argumentCount...method.argumentCount, of: name, range)
    let terms = try arguments.map { (part) throws(ExpressionFault) in
      try operand(part, .string, "An argument of \(name)", "a string")
    }
    return RuleTerm(.text(method), [target] + terms, type: method.type, range: range)
  }

  private func regex(_ argument: Syntax) throws(ExpressionFault) -> RuleRegex {
    guard case .pattern(let place, let flags) = argument.kind else {
      throw ExpressionFault(
        at: argument.range.lowerBound, "matches takes a regular expression between slashes, without quotes: matches(/^a+$/).")
    }
    guard flags.isEmpty || flags == "i" else {
      throw ExpressionFault(at: place.upperBound + 1, "Unknown flags \(flags); the only one is i, for either case.")
    }
    do throws(RegexFault) {
      return try RuleRegex(String(decoding: bytes[place], as: UTF8.self), ignoresCase: flags == "i")
    } catch {
      throw ExpressionFault(at: place.lowerBound + error.offset, error.message)
    }
  }

  // MARK: Messages

  private func check(_ arguments: [Syntax], count: ClosedRange<Int>, of name: String, _ range: Range<Int>)
    throws(ExpressionFault)
  {
    guard !count.contains(arguments.count) else { return }
    let wanted = ["no argument", "one argument", "two arguments"][min(count.upperBound, 2)]
    throw ExpressionFault(at: range.lowerBound, "\(name) takes \(wanted), not \(arguments.count).")
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
