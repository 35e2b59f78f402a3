public import TreeModel

/// What can be said of an expression by the caller alone, whatever the data, the time and the names are.
///
/// An expression that fails is not true either, so "known" means: this value, or a failure.
enum RuleForecast {
  case known(RuleValue)
  case unknown
  /// It fails in any case.
  case failed

  /// Whether a rule of this expression could be true.
  var mayHold: Bool {
    switch self {
    case .known(.scalar(.bool(true))), .unknown: true
    case .known, .failed: false
    }
  }

  fileprivate var isKnownBool: Bool? {
    if case .known(.scalar(.bool(let value))) = self { value } else { nil }
  }

  /// Whether it is known to be of none of these types.
  fileprivate func cannotBe(_ type: RuleType) -> Bool {
    switch self {
    case .unknown: false
    case .failed: true
    case .known(let value): !value.type.meets(type)
    }
  }
}

extension RuleTerm {
  /// What the part is for someone, as far as that alone says it.
  func forecast(for auth: RuleValue) -> RuleForecast {
    switch operation {
    case .constant(let value): return .known(value)
    case .auth: return .known(auth)
    case .uid: return .known(auth.member("uid"))
    case .now, .key, .root, .data, .newData, .query: return .unknown
    case .all: return forecastAll(auth)
    case .any: return forecastAny(auth)
    case .choice: return forecastChoice(auth)
    default: break
    }
    let parts = operands.map { $0.forecast(for: auth) }
    if parts.contains(where: { if case .failed = $0 { true } else { false } }) { return .failed }
    switch operation {
    case .member(let name):
      guard case .known(let target) = parts[0] else { return .unknown }
      if case .null = target, name == "length" { return .failed }
      return .known(target.member(name))
    case .not:
      if let value = parts[0].isKnownBool { return .known(RuleValue(!value)) }
      return parts[0].cannotBe(.bool) ? .failed : .unknown
    case .equal(let isNegated):
      if case .known(let left) = parts[0], case .known(let right) = parts[1] {
        return .known(RuleValue(left.isEqual(to: right) != isNegated))
      }
      // Nobody's uid is no name of a place, whichever it is.
      let types = zip(operands, parts).map { term, part in if case .known(let value) = part { value.type } else { term.type } }
      return types[0].meets(types[1]) ? .unknown : .known(RuleValue(isNegated))
    case .order, .plus:
      return parts.contains { $0.cannotBe([.number, .string]) } ? .failed : .unknown
    case .minus, .arithmetic: return parts.contains { $0.cannotBe(.number) } ? .failed : .unknown
    case .length, .text, .matches: return parts.contains { $0.cannotBe([.string, .pattern]) } ? .failed : .unknown
    case .index: return parts[1].cannotBe([.string, .number]) ? .failed : .unknown
    case .child, .hasChild, .hasChildren:
      return parts.dropFirst().contains { $0.cannotBe(.string) } ? .failed : .unknown
    default: return .unknown
    }
  }

  /// All must be true; what comes before one that is false can only be false, too, or fail.
  private func forecastAll(_ auth: RuleValue) -> RuleForecast {
    var isCertain = true
    for operand in operands {
      switch operand.forecast(for: auth) {
      case .known(.scalar(.bool(true))): continue
      case .unknown: isCertain = false
      case .known, .failed: return .known(RuleValue(false))
      }
    }
    return isCertain ? .known(RuleValue(true)) : .unknown
  }

  /// One must be true. One that fails ends it, so those behind it do not count.
  private func forecastAny(_ auth: RuleValue) -> RuleForecast {
    var isCertain = true
    for operand in operands {
      let part = operand.forecast(for: auth)
      if part.isKnownBool == true { return .known(RuleValue(true)) }
      if part.isKnownBool == false { continue }
      if case .unknown = part {
        isCertain = false
      } else {
        return isCertain ? .failed : .unknown
      }
    }
    return isCertain ? .known(RuleValue(false)) : .unknown
  }

  private func forecastChoice(_ auth: RuleValue) -> RuleForecast {
    let condition = operands[0].forecast(for: auth)
    if let value = condition.isKnownBool { return operands[value ? 1 : 2].forecast(for: auth) }
    if condition.cannotBe(.bool) { return .failed }
    let branches = operands[1...2].map { $0.forecast(for: auth) }
    return branches.contains(where: \.mayHold) ? .unknown : .known(RuleValue(false))
  }
}

extension RuleValue {
  /// What it is, as types have it.
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

// MARK: - Rules

extension RuleSet {
  /// Whether a write of a place could be allowed to someone; false if no data, time or names would let a `.write` on the way
  /// be true.
  ///
  /// - `below`: whether places below it are meant, too, as those of an update.
  /// - `auth`: the caller; nil for nobody.
  public func mightAllowWrite(_ path: Path, below: Bool, auth: JSON?) -> Bool {
    let auth = auth.map { RuleValue($0) } ?? .null
    var node = root
    if node.mightAllowWrite(auth) { return true }
    for key in path.keys {
      guard let child = node.child(key) else { return false }
      node = child
      if node.mightAllowWrite(auth) { return true }
    }
    return below && node.contains { $0.mightAllowWrite(auth) }
  }
}

extension RuleNode {
  fileprivate func mightAllowWrite(_ auth: RuleValue) -> Bool {
    write?.term.forecast(for: auth).mayHold == true
  }
}
