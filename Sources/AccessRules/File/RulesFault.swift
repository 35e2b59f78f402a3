/// What is wrong with a rules file, and where.
public struct RulesFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  public let column: Int
  /// What is wrong and what to do.
  public let message: String
  /// What else is wrong, in the order of the file.
  public let others: [RulesFault]

  init(at position: RulesPosition, _ message: String, others: [RulesFault] = []) {
    line = position.line
    column = position.column
    self.message = message
    self.others = others
  }

  /// One fault of several; nil of none.
  init?(joining faults: [RulesFault]) {
    guard let first = faults.first else { return nil }
    self.init(
      at: RulesPosition(line: first.line, column: first.column), first.message, others: Array(faults.dropFirst()))
  }

  /// As the tools show it, behind the file's name: `3:14: text`; a line for each fault.
  public var description: String {
    ([self] + others).map { "\($0.line):\($0.column): \($0.message)" }.joined(separator: "\n")
  }
}

/// A place in a rules file.
struct RulesPosition: Sendable, Hashable {
  let line: Int
  let column: Int
}
