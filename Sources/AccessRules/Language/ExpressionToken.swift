import TreeModel

/// A word of an expression, with the bytes of the text that it stands on.
struct ExpressionToken {
  enum Kind: Equatable {
    case number(Scalar)
    case string(String)
    /// A name, also `true`, `false` and `null`.
    case name(String)
    /// A path variable, with its `$`.
    case variable(String)
    /// An operator or a bracket.
    case mark(String)
    case end
  }

  let kind: Kind
  let range: Range<Int>
}
