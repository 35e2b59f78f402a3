/// A regular expression of a rule, ready to be searched with; in time that grows with the text's length and no faster,
/// whatever the expression is (spec: rtdb-protocol §4.3).
final class RuleRegex: Sendable {
  private let program: RegexProgram
  /// Nil where it would be too large; the program is walked then.
  private let table: RegexTable?

  init(_ pattern: String, ignoresCase: Bool) throws(RegexFault) {
    guard !pattern.isEmpty else { throw RegexFault(offset: 0, message: "The regular expression is empty.") }
    program = try RegexProgram(try RegexParser.parse(pattern, ignoresCase: ignoresCase))
    table = RegexTable(program)
  }

  /// How much work a search is, in steps of a ``RuleScope``.
  func cost(of text: String) -> Int {
    text.utf8.count * (table == nil ? program.steps.count : 1) / 64
  }

  /// Whether a part of the text matches.
  func matches(_ text: String) -> Bool {
    if let table { return table.matches(text) }
    var here = RegexWalk(program)
    var there = RegexWalk(program)
    var isStart = true
    var scalars = text.unicodeScalars.makeIterator()
    var following = scalars.next()
    here.come(to: 0, of: program, isStart: true, isEnd: following == nil)
    while let scalar = following {
      if here.isMatched(program) { return true }
      following = scalars.next()
      isStart = false
      there.clear()
      for place in here.places {
        guard case .take(let set) = program.steps[place], program.sets[set].contains(scalar.value) else { continue }
        there.come(to: place + 1, of: program, isStart: isStart, isEnd: following == nil)
      }
      there.come(to: 0, of: program, isStart: isStart, isEnd: following == nil)
      swap(&here, &there)
    }
    return here.isMatched(program)
  }
}
