import TextFormats

/// Reads the subset of regular expressions that rules have (Firebase, "Security Rules Regular
/// Expressions").
///
/// `^` must be the first character of the expression and `$` the last. At the beginning of a group or of the expression, `?`,
/// `*`, `+` and braces have nothing to repeat and match themselves: `(?:x)` is a group that begins with a question mark.
struct RegexParser {
  /// The most times that something may be counted.
  private static let countMax = 1000
  private static let nestingMax = 50
  /// The most steps of an automaton; counts multiply them.
  private static let stepsMax = 4000

  private let scalars: [Unicode.Scalar]
  private let ignoresCase: Bool
  private var at = 0
  private var nesting = 0

  private init(_ pattern: String, ignoresCase: Bool) {
    scalars = Array(pattern.unicodeScalars)
    self.ignoresCase = ignoresCase
  }

  /// The expression of a pattern, ready to be searched with.
  static func regex(_ pattern: String, ignoresCase: Bool) throws(RegexError) -> LinearRegex {
    guard !pattern.isEmpty else { throw RegexError(offset: 0, message: "The regular expression is empty.") }
    let syntax = try parse(pattern, ignoresCase: ignoresCase)
    do throws(LinearRegex.TooLarge) {
      return try LinearRegex(syntax, stepsMax: stepsMax)
    } catch {
      throw RegexError(offset: 0, message: "This regular expression is too large; count less.")
    }
  }

  private static func parse(_ pattern: String, ignoresCase: Bool) throws(RegexError) -> RegexSyntax {
    var parser = RegexParser(pattern, ignoresCase: ignoresCase)
    let syntax = try parser.alternatives(isOutermost: true)
    if parser.peek != nil { throw parser.regexError("This closing parenthesis has no partner; write \\) for the character.") }
    return syntax
  }

  private var peek: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

  private func regexError(_ message: String, at index: Int? = nil) -> RegexError {
    RegexError(offset: scalars[..<min(index ?? at, scalars.count)].reduce(0) { $0 + UTF8.width($1) }, message: message)
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    at += 1
    return true
  }

  // MARK: Structure

  private mutating func alternatives(isOutermost: Bool) throws(RegexError) -> RegexSyntax {
    var branches: [RegexSyntax] = []
    repeat {
      let start = at
      var parts: [RegexSyntax] = []
      if start == 0, isOutermost, take("^") { parts.append(.start) }
      if branches.isEmpty, parts.isEmpty, let literal = peek, "?*+{}".unicodeScalars.contains(literal) {
        at += 1
        parts.append(try repeated(character(literal)))
      }
      while let next = peek, next != "|", next != ")" {
        if next == "$", at == scalars.count - 1 {
          at += 1
          parts.append(.end)
        } else {
          parts.append(try repeated(try element()))
        }
      }
      guard !parts.isEmpty else { throw regexError("An alternative is empty; write ? behind what may be missing.", at: start) }
      branches.append(parts.count == 1 ? parts[0] : .sequence(parts))
    } while take("|")
    return branches.count == 1 ? branches[0] : .either(branches)
  }

  private mutating func element() throws(RegexError) -> RegexSyntax {
    let start = at
    guard let scalar = peek else { throw regexError("The regular expression ends too early.") }
    at += 1
    switch scalar {
    case "(":
      guard nesting < Self.nestingMax else { throw regexError("Groups are nested too deeply: at most 50 levels.", at: start) }
      nesting += 1
      defer { nesting -= 1 }
      let inner = try alternatives(isOutermost: false)
      guard take(")") else { throw regexError("This group does not end; close it with a parenthesis.", at: start) }
      return inner
    case "[": return .set(try bracketed(start))
    case ".": return .set(.anyButLineEnds)
    case "\\": return .set(try escaped(start).withCases(ignoresCase))
    case "^":
      throw regexError("^ may only be the first character of the whole expression; write \\^ for the character.", at: start)
    case "$":
      throw regexError("$ may only be the last character of the whole expression; write \\$ for the character.", at: start)
    case "*", "+", "?":
      throw regexError("\(scalar) has nothing to repeat here; write \\\(scalar) for the character.", at: start)
    case "{": throw regexError("This brace counts nothing; write \\{ for the character.", at: start)
    default: return character(scalar)
    }
  }

  private func character(_ scalar: Unicode.Scalar) -> RegexSyntax {
    .set(ScalarSet([scalar.value...scalar.value]).withCases(ignoresCase))
  }

  // MARK: Repetition

  private mutating func repeated(_ element: RegexSyntax) throws(RegexError) -> RegexSyntax {
    var result = element
    var depth = 0
    while let scalar = peek {
      let start = at
      switch scalar {
      case "*": result = .repeated(result, min: 0, max: nil)
      case "+": result = .repeated(result, min: 1, max: nil)
      case "?": result = .repeated(result, min: 0, max: 1)
      case "{":
        let (least, most) = try counts()
        result = .repeated(result, min: least, max: most)
        at -= 1
      default: return result
      }
      at += 1
      depth += 1
      guard depth <= 4 else { throw regexError("Too many repetitions of a repetition.", at: start) }
    }
    return result
  }

  /// `{n}`, `{n,}` or `{n,m}`.
  private mutating func counts() throws(RegexError) -> (Int, Int?) {
    let start = at
    at += 1
    let least = number()
    var most = least
    if take(",") { most = number() }
    let isOpen = at > 0 && scalars[at - 1] == ","
    guard let least, isOpen || most != nil, take("}") else {
      throw regexError("A count is {n}, {n,} or {n,m}; write \\{ for the character.", at: start)
    }
    guard least <= Self.countMax, most ?? 0 <= Self.countMax else {
      throw regexError("A count is at most \(Self.countMax).", at: start)
    }
    if isOpen { return (least, nil) }
    guard let most, most >= least else { throw regexError("This count ends before it begins.", at: start) }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let digit = peek?.value, (0x30...0x39).contains(digit) {
      value = min((value ?? 0) * 10 + Int(digit - 0x30), 1_000_000)
      at += 1
    }
    return value
  }

  // MARK: Characters

  /// What is between `[` and `]`.
  private mutating func bracketed(_ start: Int) throws(RegexError) -> ScalarSet {
    let isInverted = take("^")
    var ranges: [ClosedRange<UInt32>] = []
    while let scalar = peek, scalar != "]" {
      let first = at
      at += 1
      let lower = scalar == "\\" ? try escaped(first) : ScalarSet([scalar.value...scalar.value])
      // Behind a class, as in [\\w-.], the dash is a character.
      guard lower.single != nil, peek == "-", at + 1 < scalars.count, scalars[at + 1] != "]" else {
        ranges += lower.ranges
        continue
      }
      at += 1
      let next = scalars[at]
      at += 1
      let upper = next == "\\" ? try escaped(at - 1) : ScalarSet([next.value...next.value])
      guard let high = upper.single else {
        ranges += lower.ranges + [0x2D...0x2D] + upper.ranges
        continue
      }
      guard let low = lower.single, low <= high else {
        throw regexError("This range does not run from a character to a later one; write \\- for the character.", at: first)
      }
      ranges.append(low...high)
    }
    guard take("]") else { throw regexError("This set does not end; close it with a bracket.", at: start) }
    guard !ranges.isEmpty else { throw regexError("This set is empty.", at: start) }
    let set = ScalarSet(ranges).withCases(ignoresCase)
    return isInverted ? set.inverted : set
  }

  /// What is behind a backslash.
  private mutating func escaped(_ start: Int) throws(RegexError) -> ScalarSet {
    guard let scalar = peek else { throw regexError("Nothing stands behind this backslash.", at: start) }
    at += 1
    switch scalar {
    case "d": return .digits
    case "D": return ScalarSet.digits.inverted
    case "w": return .wordCharacters
    case "W": return ScalarSet.wordCharacters.inverted
    case "s": return .spaces
    case "S": return ScalarSet.spaces.inverted
    case "n": return ScalarSet([0x0A...0x0A])
    case "r": return ScalarSet([0x0D...0x0D])
    case "t": return ScalarSet([0x09...0x09])
    case "f": return ScalarSet([0x0C...0x0C])
    case "v": return ScalarSet([0x0B...0x0B])
    case "x": return try coded(digits: 2, start: start)
    case "u": return try coded(digits: 4, start: start)
    case "a"..."z", "A"..."Z", "0"..."9":
      throw regexError("Unknown escape \\\(scalar): there are no back-references and no boundaries of words.", at: start)
    default: return ScalarSet([scalar.value...scalar.value])
    }
  }

  private mutating func coded(digits: Int, start: Int) throws(RegexError) -> ScalarSet {
    var code: UInt32 = 0
    for _ in 0..<digits {
      guard let digit = peek.flatMap({ Character($0).hexDigitValue }) else {
        throw regexError("This escape needs \(digits) hexadecimal digits.", at: start)
      }
      code = code << 4 | UInt32(digit)
      at += 1
    }
    guard Unicode.Scalar(code) != nil else { throw regexError("This escape is half of a character; write it out.", at: start) }
    return ScalarSet([code...code])
  }
}

extension ScalarSet {
  fileprivate func withCases(_ both: Bool) -> ScalarSet { both ? withBothCases : self }
}

/// What is wrong with a regular expression, and at which byte of it.
struct RegexError: Error {
  let offset: Int
  let message: String
}
