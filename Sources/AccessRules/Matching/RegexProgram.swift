/// A regular expression as steps between which a text is walked once, all ways at the same time (Thompson's way).
struct RegexProgram: Sendable {
  enum Step: Sendable {
    /// Takes one character of a set and goes on.
    case take(set: Int)
    /// Goes on there, taking nothing.
    case jump(Int)
    /// Goes on at both.
    case fork(Int, Int)
    case start
    case end
    case match
  }

  /// The most steps; counts multiply them.
  static let stepsMax = 4000

  private(set) var steps: [Step] = []
  private(set) var sets: [ScalarRanges] = []

  /// - Throws: if there would be too many steps.
  init(_ syntax: RegexSyntax) throws(RegexFault) {
    try add(syntax)
    try append(.match)
  }

  private mutating func append(_ step: Step) throws(RegexFault) {
    guard steps.count < Self.stepsMax else {
      throw RegexFault(offset: 0, message: "This regular expression is too large; count less.")
    }
    steps.append(step)
  }

  private mutating func add(_ syntax: RegexSyntax) throws(RegexFault) {
    switch syntax {
    case .set(let set):
      let index = sets.firstIndex(of: set) ?? sets.count
      if index == sets.count { sets.append(set) }
      try append(.take(set: index))
    case .sequence(let parts): for part in parts { try add(part) }
    case .start: try append(.start)
    case .end: try append(.end)
    case .either(let branches): try addEither(branches)
    case .repeated(let part, let least, let most): try addRepeated(part, least, most)
    }
  }

  private mutating func addEither(_ branches: [RegexSyntax]) throws(RegexFault) {
    var ends: [Int] = []
    for (i, branch) in branches.enumerated() {
      let fork = steps.count
      if i < branches.count - 1 { try append(.fork(fork + 1, 0)) }
      try add(branch)
      if i < branches.count - 1 {
        ends.append(steps.count)
        try append(.jump(0))
        steps[fork] = .fork(fork + 1, steps.count)
      }
    }
    for end in ends { steps[end] = .jump(steps.count) }
  }

  private mutating func addRepeated(_ part: RegexSyntax, _ least: Int, _ most: Int?) throws(RegexFault) {
    for _ in 0..<least {
      let count = steps.count
      try add(part)
      // Nothing, however often: no step would end it.
      if steps.count == count { break }
    }
    guard let most else {
      let fork = steps.count
      try append(.fork(fork + 1, 0))
      try add(part)
      try append(.jump(fork))
      steps[fork] = .fork(fork + 1, steps.count)
      return
    }
    // Each optional copy may be the last.
    var forks: [Int] = []
    for _ in least..<most {
      forks.append(steps.count)
      try append(.fork(steps.count + 1, 0))
      try add(part)
    }
    for fork in forks { steps[fork] = .fork(fork + 1, steps.count) }
  }
}
