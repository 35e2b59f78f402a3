import TreeModel

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
    /// A regular expression: where it stands in the text, between its slashes, and its flags.
    case pattern(Range<Int>, flags: String)
    case not(Syntax)
    case minus(Syntax)
    case binary(String, Syntax, Syntax)
    /// A chain of one operator: `&&`, `||` or `+`.
    case chain(String, [Syntax])
    case choice(Syntax, Syntax, Syntax)
  }

  /// The highest tree: more would be no expression that people write, and it is walked by recursion.
  static let heightMax = 128

  let kind: Kind
  /// The bytes of the text.
  let range: Range<Int>
  /// How many levels of parts it has.
  let height: Int

  /// - Throws: if the expression is nested too deeply.
  init(_ kind: Kind, _ range: Range<Int>, over parts: [Syntax] = []) throws(ExpressionFault) {
    self.kind = kind
    self.range = range
    height = 1 + (parts.lazy.map(\.height).max() ?? 0)
    guard height <= Self.heightMax else { throw Self.tooDeep(at: range.lowerBound) }
  }

  static func tooDeep(at offset: Int) -> ExpressionFault {
    ExpressionFault(at: offset, "This expression is nested too deeply: at most \(heightMax) levels. Split the rule.")
  }
}
