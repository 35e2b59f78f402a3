import TextFormats

/// A regular expression that is matched in linear time: the part of RE2 that needs no backtracking, for URLs.
///
/// Letters and digits, `.`, classes `[a-z]`, `\d \w \s` and their opposites, groups, `|`, `* + ? {m,n}`, `^ $`. It matches
/// anywhere in the text unless it is anchored. Look-around and back-references are refused, and so is a pattern whose
/// automaton would be large: matching costs at most states times bytes.
package struct URLPattern: Sendable, Hashable {

  /// As it was written.
  package let text: String
  private let regex: LinearRegex
  /// Whether it can match at the beginning only.
  package let isAnchored: Bool

  /// The longest pattern, and the most steps of its automaton.
  static let lengthMax = 500
  static let stepsMax = 5000

  /// Reads a pattern; ``URLPatternError`` says what is wrong with it, and where.
  package init(_ text: String) throws(URLPatternError) {
    guard text.utf8.count <= Self.lengthMax else {
      throw URLPatternError(message: "it is longer than \(Self.lengthMax) bytes.")
    }
    self.text = text
    var parser = PatternParser(text)
    let syntax = try parser.parse()
    do {
      regex = try LinearRegex(syntax, stepsMax: Self.stepsMax)
    } catch {
      throw URLPatternError(message: "its repetitions make it too large; ask for fewer.")
    }
    isAnchored = syntax.isAnchored
  }

  /// Whether the pattern matches somewhere in the text.
  package func matches(_ text: String) -> Bool { regex.matches(text) }

  package static func == (left: URLPattern, right: URLPattern) -> Bool { left.text == right.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Why a text is no pattern.
package struct URLPatternError: Error, Sendable, Hashable {
  /// What is wrong, and where.
  package let message: String
}

/// Reads the text of a pattern: the grammar of RE2, as far as it needs no second try. Over bytes: a URL is ASCII by the time
/// that it is matched.
struct PatternParser {
  private let bytes: [UInt8]
  private var at = 0
  private var depth = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func parse() throws(URLPatternError) -> RegexSyntax {
    let node = try choice()
    guard at == bytes.count else { throw error("there is a ) without its (") }
    return node
  }

  private func error(_ text: String) -> URLPatternError { URLPatternError(message: "\(text), at character \(at + 1).") }

  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func take(_ character: Character) -> Bool {
    guard next == character.asciiValue else { return false }
    at += 1
    return true
  }

  private mutating func choice() throws(URLPatternError) -> RegexSyntax {
    var ways = [try sequence()]
    while take("|") { ways.append(try sequence()) }
    return ways.count == 1 ? ways[0] : .either(ways)
  }

  private mutating func sequence() throws(URLPatternError) -> RegexSyntax {
    var parts: [RegexSyntax] = []
    while let byte = next, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") { parts.append(try repeated()) }
    return .sequence(parts)
  }

  private mutating func repeated() throws(URLPatternError) -> RegexSyntax {
    var node = try atom()
    var isRepeated = false
    while let (min, max) = try quantifier() {
      guard !isRepeated else { throw error("two repetitions follow each other; put a group around the first") }
      // A reluctant quantifier matches the same texts.
      _ = take("?")
      node = .repeated(node, min: min, max: max)
      isRepeated = true
    }
    return node
  }

  private mutating func quantifier() throws(URLPatternError) -> (min: Int, max: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    let start = at
    guard take("{"), let min = number() else {
      at = start
      return nil
    }
    var max: Int? = min
    if take(",") { max = number() }
    guard take("}") else {
      at = start
      return nil
    }
    guard min <= 1000, max ?? 0 <= 1000, max.map({ $0 >= min }) ?? true else {
      throw error("a repetition must be from few to many, 1000 at most")
    }
    return (min, max)
  }

  private mutating func number() -> Int? {
    let start = at
    while let byte = next, (48...57).contains(byte), at - start < 5 { at += 1 }
    return at == start ? nil : Int(String(decoding: bytes[start..<at], as: UTF8.self))
  }

  private mutating func atom() throws(URLPatternError) -> RegexSyntax {
    guard let byte = next else { throw error("something is missing") }
    at += 1
    switch byte {
    case UInt8(ascii: "^"): return .start
    case UInt8(ascii: "$"): return .end
    case UInt8(ascii: "."): return .set(ScalarSet([0x0A...0x0A]).inverted)
    case UInt8(ascii: "["): return .set(try characterClass())
    case UInt8(ascii: "("): return try group()
    case UInt8(ascii: "\\"): return try escaped()
    case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"):
      at -= 1
      throw error("there is nothing to repeat")
    default: return .set(Self.set(byte...byte))
    }
  }

  private mutating func group() throws(URLPatternError) -> RegexSyntax {
    depth += 1
    guard depth <= 50 else { throw error("groups are nested more than 50 deep") }
    if take("?") {
      guard take(":") else { throw error("look-around, names and flags are not supported: only ( and (?:") }
    }
    let node = try choice()
    guard take(")") else { throw error("a ) is missing") }
    depth -= 1
    return node
  }

  private mutating func escaped() throws(URLPatternError) -> RegexSyntax {
    guard let byte = next else { throw error("nothing follows the last \\") }
    at += 1
    switch byte {
    case UInt8(ascii: "A"): return .start
    case UInt8(ascii: "z"): return .end
    case UInt8(ascii: "1")...UInt8(ascii: "9"):
      throw error("back-references cannot be matched in linear time")
    default:
      if let set = Self.named(byte) { return .set(set) }
      guard let literal = Self.literal(byte) else {
        throw error("\\\(Character(Unicode.Scalar(byte))) is not supported")
      }
      return .set(Self.set(literal...literal))
    }
  }

  private mutating func characterClass() throws(URLPatternError) -> ScalarSet {
    var ranges: [ClosedRange<UInt32>] = []
    let isInverted = take("^")
    var isFirst = true
    while isFirst || next != UInt8(ascii: "]") {
      guard let byte = next else { throw error("a ] is missing") }
      at += 1
      isFirst = false
      var low = byte
      if byte == UInt8(ascii: "\\") {
        guard let escaped = next else { throw error("nothing follows the last \\") }
        at += 1
        if let named = Self.named(escaped) {
          ranges += named.ranges
          continue
        }
        guard let literal = Self.literal(escaped) else {
          throw error("\\\(Character(Unicode.Scalar(escaped))) is not supported")
        }
        low = literal
      }
      var high = low
      if next == UInt8(ascii: "-"), at + 1 < bytes.count, bytes[at + 1] != UInt8(ascii: "]") {
        at += 1
        high = bytes[at]
        at += 1
        if high == UInt8(ascii: "\\") {
          guard let literal = next.flatMap(Self.literal) else { throw error("a range must end with a character") }
          at += 1
          high = literal
        }
        guard low <= high else { throw error("a range goes backwards") }
      }
      ranges.append(UInt32(low)...UInt32(high))
    }
    at += 1
    let set = ScalarSet(ranges)
    return isInverted ? set.inverted : set
  }

  private static func named(_ byte: UInt8) -> ScalarSet? {
    let set: ScalarSet
    switch byte | 0x20 {
    case UInt8(ascii: "d"): set = .digits
    case UInt8(ascii: "w"): set = .wordCharacters
    // As in RE2, fewer than in JavaScript.
    case UInt8(ascii: "s"): set = ScalarSet([9...10, 12...13, 32...32])
    default: return nil
    }
    return byte & 0x20 == 0 ? set.inverted : set
  }

  private static func set(_ range: ClosedRange<UInt8>) -> ScalarSet {
    ScalarSet([UInt32(range.lowerBound)...UInt32(range.upperBound)])
  }

  /// A character that may stand behind a backslash and then means itself, or a control character.
  private static func literal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "r"): 13
    case 48...57, 65...90, 97...122: nil
    case 0x21...0x7E: byte
    default: nil
    }
  }
}
