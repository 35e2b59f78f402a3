import TreeModel

/// Reads the text of an expression (Firebase, "Security Rules API reference"); operators bind as in JavaScript.
struct ExpressionParser {
  /// The longest expression, in bytes of UTF-8.
  private static let bytesMax = 64 << 10
  /// How deep brackets and signs may stand in each other while they are read.
  private static let nestingMax = 100

  /// How strongly the operators between two operands bind.
  private static let strengths = [
    "||": 1, "&&": 2, "==": 3, "!=": 3, "===": 3, "!==": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6,
    "%": 6,
  ]

  private var scanner: ExpressionScanner
  private var token: ExpressionToken
  private var nesting = 0

  private init(_ text: String) throws(ExpressionError) {
    scanner = ExpressionScanner(text)
    token = try scanner.next()
  }

  /// Reads a whole expression.
  static func parse(_ text: String) throws(ExpressionError) -> Syntax {
    guard text.utf8.count <= bytesMax else { throw ExpressionError(at: 0, "An expression has at most 64 KB.") }
    var parser = try ExpressionParser(text)
    if parser.token.kind == .end { throw ExpressionError(at: 0, "The expression is empty; write true or false.") }
    let syntax = try parser.expression()
    if parser.token.kind != .end { throw parser.unexpected() }
    return syntax
  }

  // MARK: Words

  private mutating func advance() throws(ExpressionError) { token = try scanner.next() }

  private func isMark(_ mark: String) -> Bool { token.kind == .mark(mark) }

  private mutating func take(_ mark: String) throws(ExpressionError) -> Bool {
    guard isMark(mark) else { return false }
    try advance()
    return true
  }

  private mutating func expect(_ mark: String) throws(ExpressionError) {
    guard try take(mark) else { throw unexpected(expecting: "\"\(mark)\"") }
  }

  private func unexpected(expecting: String? = nil) -> ExpressionError {
    let wanted = expecting.map { " Expected \($0)." } ?? ""
    switch token.kind {
    case .end: return ExpressionError(at: token.range.lowerBound, "The expression ends too early.\(wanted)")
    case .mark("="): return ExpressionError(at: token.range.lowerBound, "Rules assign nothing; compare with ==.")
    case .mark(";"):
      return ExpressionError(at: token.range.lowerBound, "A rule is one expression; join conditions with && or ||.")
    case .mark("**"): return ExpressionError(at: token.range.lowerBound, "There is no operator **.")
    default:
      let word = String(decoding: scanner.bytes[token.range].prefix(40), as: UTF8.self)
      return ExpressionError(at: token.range.lowerBound, "Unexpected \(word).\(wanted)")
    }
  }

  /// Bounds the nesting, and with it the depth of the stack.
  private mutating func nested(_ body: (inout Self) throws(ExpressionError) -> Syntax) throws(ExpressionError) -> Syntax {
    guard nesting < Self.nestingMax else { throw Syntax.tooDeep(at: token.range.lowerBound) }
    nesting += 1
    defer { nesting -= 1 }
    return try body(&self)
  }

  // MARK: Operators

  private mutating func expression() throws(ExpressionError) -> Syntax {
    try nested { (parser) throws(ExpressionError) in
      let condition = try parser.operation(above: 0)
      guard try parser.take("?") else { return condition }
      let yes = try parser.expression()
      try parser.expect(":")
      let no = try parser.expression()
      return try Syntax(
        .choice(condition, yes, no), condition.range.lowerBound..<no.range.upperBound, over: [condition, yes, no])
    }
  }

  private mutating func operation(above strength: Int) throws(ExpressionError) -> Syntax {
    var left = try sign()
    while case .mark(let mark) = token.kind, let own = Self.strengths[mark], own > strength {
      if mark == "&&" || mark == "||" || mark == "+" {
        left = try chain(of: mark, strength: own, first: left)
      } else {
        try advance()
        let right = try operation(above: own)
        left = try Syntax(
          .binary(mark, left, right), left.range.lowerBound..<right.range.upperBound, over: [left, right])
      }
    }
    return left
  }

  /// Operands of one operator become one part, however many they are.
  private mutating func chain(of mark: String, strength: Int, first: Syntax) throws(ExpressionError) -> Syntax {
    var operands = [first]
    while try take(mark) { operands.append(try operation(above: strength)) }
    let end = operands[operands.count - 1].range.upperBound
    return try Syntax(.chain(mark, operands), first.range.lowerBound..<end, over: operands)
  }

  private mutating func sign() throws(ExpressionError) -> Syntax {
    let start = token.range.lowerBound
    guard isMark("!") || isMark("-") else { return try postfix() }
    let isNot = isMark("!")
    return try nested { (parser) throws(ExpressionError) in
      try parser.advance()
      let operand = try parser.sign()
      return try Syntax(isNot ? .not(operand) : .minus(operand), start..<operand.range.upperBound, over: [operand])
    }
  }

  // MARK: Members, calls and what they begin with

  private mutating func postfix() throws(ExpressionError) -> Syntax {
    var value = try primary()
    while true {
      let start = value.range.lowerBound
      if try take(".") {
        guard case .name(let name) = token.kind else { throw unexpected(expecting: "a name") }
        let end = token.range.upperBound
        try advance()
        value = try Syntax(.member(value, name), start..<end, over: [value])
      } else if try take("[") {
        let index = try expression()
        let end = token.range.upperBound
        try expect("]")
        value = try Syntax(.index(value, index), start..<end, over: [value, index])
      } else if try take("(") {
        let (arguments, end) = try elements(until: ")")
        value = try Syntax(.call(value, arguments), start..<end, over: [value] + arguments)
      } else {
        return value
      }
    }
  }

  /// What is between brackets, and where they end.
  private mutating func elements(until mark: String) throws(ExpressionError) -> ([Syntax], Int) {
    var elements: [Syntax] = []
    while !isMark(mark) {
      elements.append(try expression())
      if !isMark(mark) { try expect(",") }
    }
    let end = token.range.upperBound
    try advance()
    return (elements, end)
  }

  private mutating func primary() throws(ExpressionError) -> Syntax {
    let range = token.range
    switch token.kind {
    case .number(let number): return try constant(.scalar(number))
    case .string(let text): return try constant(.scalar(.string(text)))
    case .name("true"): return try constant(.scalar(.bool(true)))
    case .name("false"): return try constant(.scalar(.bool(false)))
    case .name("null"): return try constant(.null)
    case .name(let name):
      try advance()
      return try Syntax(.name(name), range)
    case .variable(let name):
      try advance()
      return try Syntax(.variable(name), range)
    case .mark("("):
      try advance()
      let inner = try expression()
      let end = token.range.upperBound
      try expect(")")
      // With its parentheses, so that an explanation shows them.
      return try Syntax(inner.kind, range.lowerBound..<end, over: [inner])
    case .mark("["):
      try advance()
      let (elements, end) = try elements(until: "]")
      return try Syntax(.list(elements), range.lowerBound..<end, over: elements)
    case .mark("/"):
      let (pattern, flags, end) = try scanner.pattern(from: range.lowerBound)
      try advance()
      return try Syntax(.pattern(pattern, flags: flags), range.lowerBound..<end)
    default: throw unexpected(expecting: "a value")
    }
  }

  private mutating func constant(_ value: RuleValue) throws(ExpressionError) -> Syntax {
    let range = token.range
    try advance()
    return try Syntax(.constant(value), range)
  }
}

/// A part of an expression as it was read, before its names and types are looked at.
struct Syntax {
  indirect enum Kind {
    case constant(RuleValue)
    /// `auth`, `now`, `root`, `data`, `newData`, `query`, or something unknown.
    case name(String)
    /// A path variable, with its `$`.
    case variable(String)
    case member(Syntax, String)
    case index(Syntax, Syntax)
    case call(Syntax, [Syntax])
    case list([Syntax])
    /// A regular expression: where it is in the text, between its slashes, and its flags.
    case pattern(Range<Int>, flags: String)
    case not(Syntax)
    case minus(Syntax)
    case binary(String, Syntax, Syntax)
    /// A chain of one operator: `&&`, `||` or `+`.
    case chain(String, [Syntax])
    case choice(Syntax, Syntax, Syntax)
  }

  /// The deepest tree: it is walked by recursion, and no expression that people write is deeper.
  static let heightMax = 128

  let kind: Kind
  /// The bytes of the text.
  let range: Range<Int>
  /// How many levels of parts it has.
  let height: Int

  /// - Throws: if the expression is nested too deeply.
  init(_ kind: Kind, _ range: Range<Int>, over parts: [Syntax] = []) throws(ExpressionError) {
    self.kind = kind
    self.range = range
    height = 1 + (parts.lazy.map(\.height).max() ?? 0)
    guard height <= Self.heightMax else { throw Self.tooDeep(at: range.lowerBound) }
  }

  static func tooDeep(at offset: Int) -> ExpressionError {
    ExpressionError(at: offset, "This expression is nested too deeply: at most \(heightMax) levels. Split the rule.")
  }
}
