import TreeModel

extension RuleTerm {
  /// Judges a part that must be a string.
  func text(in scope: RuleScope) throws(RuleFailure) -> String {
    let value = try value(in: scope)
    guard case .scalar(.string(let text)) = value else { throw mismatch("a string", value) }
    return text
  }

  /// Judges a part that must be a number.
  func number(in scope: RuleScope) throws(RuleFailure) -> Scalar {
    let value = try value(in: scope)
    guard case .scalar(let number) = value, number.isNumber else { throw mismatch("a number", value) }
    return number
  }

  func text(_ method: TextMethod, _ scope: RuleScope) throws(RuleFailure) -> RuleValue {
    let text = try operands[0].text(in: scope)
    let arguments = try operands.dropFirst().map { (part) throws(RuleFailure) in try part.text(in: scope) }
    try scope.spend(text.utf8.count / 64, self)
    switch method {
    case .contains: return RuleValue(TextSearch(arguments[0]).isFound(in: text))
    case .beginsWith: return RuleValue(text.utf8.starts(with: arguments[0].utf8))
    case .endsWith: return RuleValue(text.utf8.reversed().starts(with: arguments[0].utf8.reversed()))
    case .toLowerCase: return .scalar(.string(text.lowercased()))
    case .toUpperCase: return .scalar(.string(text.uppercased()))
    case .replace:
      guard let result = TextSearch(arguments[0]).replacing(in: text, by: arguments[1], bytesMax: RuleScope.textMax) else {
        throw RuleFailure(.tooLong, self)
      }
      try scope.spend(result.utf8.count / 64, self)
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
