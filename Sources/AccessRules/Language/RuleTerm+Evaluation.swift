import TextFormats
import TreeModel

extension RuleTerm {
  func value(in scope: RuleScope) throws(EvaluationError) -> RuleValue {
    try scope.spend(1, term: self)
    guard let recorder = scope.recorder else { return try compute(scope) }
    do throws(EvaluationError) {
      let value = try compute(scope)
      recorder.note(self, value)
      return value
    } catch {
      recorder.note(self, failed: error)
      throw error
    }
  }

  /// Evaluates a part that must be true or false.
  func bool(in scope: RuleScope) throws(EvaluationError) -> Bool {
    // Most parts are booleans; a `RuleValue` is only made of them for an explanation.
    if isDecision, scope.recorder == nil {
      try scope.spend(1, term: self)
      return try decide(scope)
    }
    let value = try value(in: scope)
    guard case .scalar(.bool(let bool)) = value else { throw mismatch("a boolean", value: value) }
    return bool
  }

  func mismatch(_ wanted: String, value: RuleValue) -> EvaluationError {
    EvaluationError(.type("must be \(wanted), but is \(value.kind)"), self)
  }

  private func compute(_ scope: RuleScope) throws(EvaluationError) -> RuleValue {
    switch operation {
    case .constant(let value): return value
    case .auth: return scope.auth
    case .uid: return scope.uid
    case .now: return .scalar(.int(scope.now))
    case .key(let level): return .scalar(.string(scope.keys[level].text))
    case .root: return .snapshot(RuleSnapshot(side: .before, pathBytes: .root))
    case .data: return .snapshot(RuleSnapshot(side: .before, pathBytes: scope.pathBytes))
    case .newData: return .snapshot(RuleSnapshot(side: .after, pathBytes: scope.pathBytes))
    case .query(let property): return scope.query.value(of: property)
    case .member(let name):
      let target = try operands[0].value(in: scope)
      // The length of a missing text is an error; other members of a missing value are missing.
      if case .null = target, name == "length" { throw operands[0].mismatch("a string", value: target) }
      return target.member(name)
    case .index: return try indexed(scope)
    case .length: return .scalar(.int(Int64(try operands[0].text(in: scope).utf16.count)))
    case .look(let look): return isDecision ? RuleValue(try decide(scope)) : try self.look(look, scope: scope)
    case .parent:
      guard let parent = try operands[0].snapshot(in: scope).parent else {
        throw EvaluationError(.type("has no parent: it is the root"), operands[0])
      }
      return .snapshot(parent)
    case .child: return .snapshot(try child(scope))
    case .text(let method): return try text(method, scope)
    case .minus: return .scalar(try operands[0].number(in: scope).negated)
    case .plus: return try plus(scope)
    case .arithmetic(let kind):
      let left = try operands[0].number(in: scope)
      return .scalar(left.calculating(kind, other: try operands[1].number(in: scope)))
    case .choice: return try operands[try operands[0].bool(in: scope) ? 1 : 2].value(in: scope)
    case .hasChild, .hasChildren, .matches, .not, .equal, .order, .all, .any: return RuleValue(try decide(scope))
    }
  }

  /// Evaluates a part that ``isDecision``.
  private func decide(_ scope: RuleScope) throws(EvaluationError) -> Bool {
    switch operation {
    case .look(let look): return holds(look, of: try scope.read(try operands[0].snapshot(in: scope), for: self))
    case .hasChild: return try scope.read(try child(scope), for: self) != .absent
    case .hasChildren: return try hasChildren(scope)
    case .matches(let regex):
      let text = try operands[0].text(in: scope)
      try scope.spend(regex.cost(of: text), term: self)
      return regex.matches(text)
    case .not: return !(try operands[0].bool(in: scope))
    case .equal(let isNegated):
      let left = try operands[0].value(in: scope)
      return left.isEqual(to: try operands[1].value(in: scope)) != isNegated
    case .order(let order): return try compare(order, scope: scope)
    case .all:
      for operand in operands where !(try operand.bool(in: scope)) { return false }
      return true
    case .any:
      for operand in operands where try operand.bool(in: scope) { return true }
      return false
    default: preconditionFailure("\(operation) is no decision.")
    }
  }

  private func indexed(_ scope: RuleScope) throws(EvaluationError) -> RuleValue {
    let target = try operands[0].value(in: scope)
    let key = try operands[1].value(in: scope)
    switch key {
    case .scalar(.string(let name)): return target.member(name)
    case .scalar(.int(let index)): return target.member(String(index))
    default: throw operands[1].mismatch("a string or a whole number", value: key)
    }
  }

  private func plus(_ scope: RuleScope) throws(EvaluationError) -> RuleValue {
    var sum = try operands[0].value(in: scope)
    guard case .scalar(let first) = sum, first.isNumber || first.stringValue != nil else {
      throw operands[0].mismatch("a number or a string", value: sum)
    }
    for operand in operands.dropFirst() {
      let next = try operand.value(in: scope)
      switch (sum, next) {
      case (.scalar(.string(let left)), .scalar(let right)) where right.text != nil:
        sum = .scalar(.string(try joined(left, right: right.text ?? "", scope: scope)))
      case (.scalar(let left), .scalar(.string(let right))):
        sum = .scalar(.string(try joined(left.text ?? "", right: right, scope: scope)))
      case (.scalar(let left), .scalar(let right)) where right.isNumber: sum = .scalar(left.adding(right))
      default: throw operand.mismatch("a number or a string", value: next)
      }
    }
    return sum
  }

  private func joined(_ left: String, right: String, scope: RuleScope) throws(EvaluationError) -> String {
    let count = left.utf8.count + right.utf8.count
    guard count <= RuleScope.textMax else { throw EvaluationError(.tooLong, self) }
    try scope.spend(count / 64, term: self)
    return left + right
  }

  private func compare(_ order: Order, scope: RuleScope) throws(EvaluationError) -> Bool {
    let left = try operands[0].value(in: scope)
    let right = try operands[1].value(in: scope)
    switch (left, right) {
    case (.scalar(.string(let x)), .scalar(.string(let y))):
      try scope.spend(min(x.utf8.count, y.utf8.count) / 64, term: self)
      return switch order {
      case .less: x.isBefore(y)
      case .lessOrEqual: !y.isBefore(x)
      case .greater: y.isBefore(x)
      case .greaterOrEqual: !x.isBefore(y)
      }
    case (.scalar(let x), .scalar(let y)) where x.isNumber && y.isNumber:
      if operands[0].isNow { scope.noteTurn(y) } else if operands[1].isNow { scope.noteTurn(x) }
      guard let comparison = x.compared(to: y) else { return false }
      return switch order {
      case .less: comparison < 0
      case .lessOrEqual: comparison <= 0
      case .greater: comparison > 0
      case .greaterOrEqual: comparison >= 0
      }
    default:
      let (term, value, other) =
        switch left {
        case .scalar(let scalar) where scalar.isNumber || scalar.stringValue != nil: (operands[1], right, left.kind)
        default: (operands[0], left, "a number or a string")
        }
      throw term.mismatch(other, value: value)
    }
  }
}

extension RuleTerm {
  /// The snapshot that a part is; the types of snapshots are known when a file is uploaded.
  func snapshot(in scope: RuleScope) throws(EvaluationError) -> RuleSnapshot {
    // The common cases; snapshots are not recorded for explanations.
    switch operation {
    case .data: return RuleSnapshot(side: .before, pathBytes: scope.pathBytes)
    case .newData: return RuleSnapshot(side: .after, pathBytes: scope.pathBytes)
    case .root: return RuleSnapshot(side: .before, pathBytes: .root)
    default: break
    }
    let value = try value(in: scope)
    guard case .snapshot(let snapshot) = value else { throw mismatch("a snapshot", value: value) }
    return snapshot
  }

  func look(_ look: Look, scope: RuleScope) throws(EvaluationError) -> RuleValue {
    let snapshot = try operands[0].snapshot(in: scope)
    if look == .getPriority { return RuleValue(try scope.priority(snapshot, term: self)) }
    let found = try scope.read(snapshot, for: self)
    switch (look, found) {
    case (.val, .leaf(let scalar)): return .scalar(scalar)
    case (.val, .map): return .map
    default: return .null
    }
  }

  func holds(_ look: Look, of found: RuleRead) -> Bool {
    switch (look, found) {
    case (.exists, .absent): false
    case (.exists, _), (.isString, .leaf(.string)), (.isBoolean, .leaf(.bool)), (.isNumber, .leaf(.int)),
      (.isNumber, .leaf(.double)):
      true
    default: false
    }
  }

  /// The snapshot of the path that the second operand says.
  func child(_ scope: RuleScope) throws(EvaluationError) -> RuleSnapshot {
    let snapshot = try operands[0].snapshot(in: scope)
    let path = try operands[1].text(in: scope)
    // A path beyond the longest that there can be leads nowhere; it is not worth being read.
    guard path.utf8.count <= Path.depthMax * (Key.bytesMax + 1) else {
      return RuleSnapshot(side: snapshot.side, pathBytes: nil)
    }
    try scope.spend(path.utf8.count / 64, term: self)
    return snapshot.child(path)
  }

  func hasChildren(_ scope: RuleScope) throws(EvaluationError) -> Bool {
    let snapshot = try operands[0].snapshot(in: scope)
    guard operands.count > 1 else { return try scope.read(snapshot, for: self) == .map }
    // All names are evaluated first: one that is no string makes the rule false, whatever is there.
    let names = try operands.dropFirst().map { (name) throws(EvaluationError) in try name.text(in: scope) }
    for name in names where try scope.read(snapshot.child(name), for: self) == .absent { return false }
    return true
  }
}

extension RuleValue {
  /// A member of a part of `auth`; null where there is none, of null too.
  func member(_ name: String) -> RuleValue {
    switch self {
    case .json(.object): if case .json(let json) = self, let member = json[name] { RuleValue(member) } else { .null }
    case .json(.array(let elements)):
      if let index = Int(name), elements.indices.contains(index) { RuleValue(elements[index]) } else { .null }
    case .scalar(.string(let text)) where name == "length": .scalar(.int(Int64(text.utf16.count)))
    default: .null
    }
  }
}

extension RuleTerm {
  /// Evaluates a part that must be a string.
  func text(in scope: RuleScope) throws(EvaluationError) -> String {
    let value = try value(in: scope)
    guard case .scalar(.string(let text)) = value else { throw mismatch("a string", value: value) }
    return text
  }

  /// Evaluates a part that must be a number.
  func number(in scope: RuleScope) throws(EvaluationError) -> Scalar {
    let value = try value(in: scope)
    guard case .scalar(let number) = value, number.isNumber else { throw mismatch("a number", value: value) }
    return number
  }

  func text(_ method: TextMethod, _ scope: RuleScope) throws(EvaluationError) -> RuleValue {
    let text = try operands[0].text(in: scope)
    let arguments = try operands.dropFirst().map { (part) throws(EvaluationError) in try part.text(in: scope) }
    try scope.spend(text.utf8.count / 64, term: self)
    switch method {
    case .contains: return RuleValue(TextSearch(arguments[0]).isFound(in: text))
    case .beginsWith: return RuleValue(text.utf8.starts(with: arguments[0].utf8))
    case .endsWith: return RuleValue(text.utf8.reversed().starts(with: arguments[0].utf8.reversed()))
    case .toLowerCase: return .scalar(.string(text.lowercased()))
    case .toUpperCase: return .scalar(.string(text.uppercased()))
    case .replace:
      guard let result = TextSearch(arguments[0]).replacing(in: text, by: arguments[1], bytesMax: RuleScope.textMax) else {
        throw EvaluationError(.tooLong, self)
      }
      try scope.spend(result.utf8.count / 64, term: self)
      return .scalar(.string(result))
    }
  }
}

extension String {
  /// Order by UTF-16 code units, as JavaScript and Java compare strings.
  func isBefore(_ other: String) -> Bool {
    utf16.lexicographicallyPrecedes(other.utf16)
  }
}
