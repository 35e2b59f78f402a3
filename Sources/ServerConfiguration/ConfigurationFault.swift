/// One thing that is wrong with a configuration file, and where.
struct ConfigurationFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// A place in the file: line and column from 1, the column in Unicode scalars.
  struct Position: Sendable, Hashable, Comparable {
    let line: Int
    let column: Int

    static func < (a: Position, b: Position) -> Bool { (a.line, a.column) < (b.line, b.column) }
  }

  let position: Position
  /// What is wrong, and what to do.
  let message: String

  init(at position: Position, _ message: String) {
    self.position = position
    self.message = message
  }

  /// As tools show it behind the file's name: `3:14: text`.
  var description: String { "\(position.line):\(position.column): \(message)" }
}
