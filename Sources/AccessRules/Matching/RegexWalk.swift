/// Which steps of a program a text has come to: a set without repetitions, in which a step is found at once.
struct RegexWalk {
  private(set) var places: [Int] = []
  private var isIn: [Bool]

  init(_ program: RegexProgram) {
    isIn = [Bool](repeating: false, count: program.steps.count)
  }

  mutating func clear() {
    for place in places { isIn[place] = false }
    places.removeAll(keepingCapacity: true)
  }

  /// Comes to a step, and to all that lie behind it without taking a character.
  ///
  /// Steps that wait for the text's end stay where they are, unless this is the end.
  mutating func come(to place: Int, of program: RegexProgram, isStart: Bool, isEnd: Bool) {
    var waiting = [place]
    while let place = waiting.popLast() {
      if isIn[place] { continue }
      isIn[place] = true
      places.append(place)
      switch program.steps[place] {
      case .take, .match: break
      case .jump(let next): waiting.append(next)
      case .fork(let first, let second):
        waiting.append(second)
        waiting.append(first)
      case .start: if isStart { waiting.append(place + 1) }
      case .end: if isEnd { waiting.append(place + 1) }
      }
    }
  }

  /// Whether the program is at its end.
  func isMatched(_ program: RegexProgram) -> Bool { isIn[program.steps.count - 1] }
}
