/// A `.read`, `.write` or `.validate` rule: its text, checked and ready to be judged.
public final class RuleExpression: Sendable {
  /// What it decides.
  public let kind: RuleKind
  /// The expression, as it was written; a boolean is the text `true` or `false`.
  public let text: String
  /// The place in the file where its value begins, from 1.
  public let line: Int
  /// See ``line``.
  public let column: Int
  /// Whether judging it looks at the tree; if not, who asks and what is asked decide alone.
  public let looksAtTree: Bool

  let term: RuleTerm
  private let place: RulesText
  private let source: RulesSource

  init(_ kind: RuleKind, _ place: RulesText, at position: RulesPosition, in source: RulesSource, term: RuleTerm) {
    self.kind = kind
    text = place.text
    line = position.line
    column = position.column
    looksAtTree = term.looksAtTree
    self.term = term
    self.place = place
    self.source = source
  }

  /// Where a part stands in the file.
  func position(of offset: Int) -> RulesPosition { source.position(of: place.source(of: offset)) }

  /// The text of a part.
  func text(of term: RuleTerm) -> String {
    String(decoding: Array(text.utf8)[term.range], as: UTF8.self)
  }
}
