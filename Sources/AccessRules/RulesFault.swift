/// What is wrong with a rules file, and where.
public struct RulesFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  public let column: Int
  /// What is wrong and what to do.
  public let message: String

  init(at position: RulesPosition, _ message: String) {
    line = position.line
    column = position.column
    self.message = message
  }

  /// As the tools show it, behind the file's name: `3:14: text`.
  public var description: String { "\(line):\(column): \(message)" }
}

/// A place in a rules file.
struct RulesPosition: Sendable, Hashable {
  let line: Int
  let column: Int
}
