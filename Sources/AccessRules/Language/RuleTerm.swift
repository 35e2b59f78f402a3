import TextFormats
import TreeModel

/// A part of an expression, checked and ready to be evaluated.
///
/// A final class with one switch: parts are shared by all who judge, and judging one costs no allocation but for what it makes.
final class RuleTerm: Sendable {
  enum Operation: Sendable {
    case constant(RuleValue)
    case auth
    /// `auth.uid`, which is looked up once.
    case uid
    case now
    /// The key on a level of the path, from 0.
    case key(Int)
    case root
    case data
    case newData
    case query(RuleQuery.Property)
    case member(String)
    case index
    case length
    case look(Look)
    case parent
    case child
    case hasChild
    /// Without operands but the snapshot: whether there are any.
    case hasChildren
    case text(TextMethod)
    case matches(LinearRegex)
    case not
    case minus
    case plus
    case arithmetic(Arithmetic)
    case equal(isNegated: Bool)
    case order(Order)
    case all
    case any
    case choice
  }

  /// What a snapshot answers without an argument.
  enum Look: String, Sendable, CaseIterable {
    case val, exists, isString, isNumber, isBoolean, getPriority
  }

  enum TextMethod: String, Sendable, CaseIterable {
    case contains, beginsWith, endsWith, replace, toLowerCase, toUpperCase
  }

  enum Arithmetic: String, Sendable {
    case minus = "-"
    case times = "*"
    case over = "/"
    case modulo = "%"
  }

  enum Order: String, Sendable {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  let operation: Operation
  let operands: [RuleTerm]
  let type: RuleType
  /// The bytes of the expression's text.
  let range: Range<Int>
  /// Whether it is nothing but true or false, whatever its operands are.
  let isDecision: Bool

  init(_ operation: Operation, _ operands: [RuleTerm] = [], type: RuleType, range: Range<Int>) {
    self.operation = operation
    self.operands = operands
    self.type = type
    self.range = range
    switch operation {
    case .look(.exists), .look(.isString), .look(.isBoolean), .look(.isNumber), .hasChild, .hasChildren, .matches, .not, .equal,
      .order, .all, .any:
      isDecision = true
    default: isDecision = false
    }
  }

  /// Whether it is `now` itself.
  var isNow: Bool { if case .now = operation { true } else { false } }

  /// Whether evaluating it looks at the tree.
  var looksAtTree: Bool {
    switch operation {
    case .look, .hasChild, .hasChildren: true
    default: operands.contains(where: \.looksAtTree)
    }
  }
}

/// Why a rule could not be evaluated to its end. The whole rule is false then.
struct EvaluationError: Error {
  enum Reason {
    /// A part was not what its place needs: the message says which.
    case type(String)
    /// See ``RuleScope/stepsMax``.
    case tooLong
    /// The tree could not be looked at: nothing is evaluated at all.
    case unreadable(RuleTreeError)
  }

  let reason: Reason
  /// The part at which it came up.
  let term: RuleTerm?

  init(_ reason: Reason, _ term: RuleTerm?) {
    self.reason = reason
    self.term = term
  }

  /// What was wrong, as a sentence.
  var message: String {
    switch reason {
    case .type(let message): message
    case .tooLong: "Judging took too long; make the rules or the write smaller."
    case .unreadable(let error): error.message
    }
  }
}
