/// A regular expression as a parser read it.
///
/// The parsers belong to the languages that have regular expressions: what a pattern may say differs between security rules
/// and the allow-list of links, matching it does not.
package indirect enum RegexSyntax: Sendable {
  /// One character of a set.
  case set(ScalarSet)
  /// One part behind the other; without parts the empty text.
  case sequence([RegexSyntax])
  /// Any of the branches.
  case either([RegexSyntax])
  /// At least `min` times; without `max` any number of times.
  case repeated(RegexSyntax, min: Int, max: Int?)
  /// Only where the text begins.
  case start
  /// Only where the text ends.
  case end

  /// Whether every match begins where the text begins.
  package var isAnchored: Bool {
    switch self {
    case .start: true
    case .sequence(let parts): parts.first?.isAnchored ?? false
    case .either(let branches): branches.allSatisfy(\.isAnchored)
    case .repeated(let part, let min, _): min > 0 && part.isAnchored
    case .set, .end: false
    }
  }
}

/// A compiled regular expression whose search takes time in proportion to the text's length, whatever the expression is.
///
/// Thompson's construction: all ways through the expression are walked at the same time, so none is tried twice. Where the
/// deterministic automaton is small it is worked out in advance, and a character costs one look-up.
package final class LinearRegex: Sendable {
  /// The expression has more steps than allowed; counts multiply them.
  package struct TooLarge: Error {}

  private let program: RegexProgram
  /// Nil where it would be too large; the program is walked then.
  private let table: RegexTable?

  /// Compiles an expression.
  ///
  /// - `stepsMax`: how many steps the automaton may have.
  package init(_ syntax: RegexSyntax, stepsMax: Int) throws(TooLarge) {
    program = try RegexProgram(syntax, stepsMax: stepsMax)
    table = RegexTable(program)
  }

  /// How many units of work a search takes, where the look-ups of 64 bytes are one.
  package func cost(of text: String) -> Int {
    text.utf8.count * (table == nil ? program.steps.count : 1) / 64
  }

  /// Whether a part of the text matches.
  package func matches(_ text: String) -> Bool {
    if let table { return table.matches(text) }
    var here = RegexWalk(program)
    var there = RegexWalk(program)
    var scalars = text.unicodeScalars.makeIterator()
    var following = scalars.next()
    here.reach(0, of: program, isStart: true, isEnd: following == nil)
    while let scalar = following {
      if here.isMatched(program) { return true }
      following = scalars.next()
      there.clear()
      for step in here.steps {
        guard case .take(let set) = program.steps[step], program.sets[set].contains(scalar.value) else { continue }
        there.reach(step + 1, of: program, isStart: false, isEnd: following == nil)
      }
      // Unanchored: a match may begin at every character.
      there.reach(0, of: program, isStart: false, isEnd: following == nil)
      swap(&here, &there)
    }
    return here.isMatched(program)
  }
}

/// A regular expression as numbered steps.
private struct RegexProgram: Sendable {
  enum Step: Sendable {
    /// Takes one character of a set and goes on to the next step.
    case take(set: Int)
    /// Goes on there, taking nothing.
    case jump(Int)
    /// Goes on at both.
    case fork(Int, Int)
    case start
    case end
    case match
  }

  private(set) var steps: [Step] = []
  private(set) var sets: [ScalarSet] = []
  private let stepsMax: Int

  init(_ syntax: RegexSyntax, stepsMax: Int) throws(LinearRegex.TooLarge) {
    self.stepsMax = stepsMax
    try add(syntax)
    try append(.match)
  }

  private mutating func append(_ step: Step) throws(LinearRegex.TooLarge) {
    guard steps.count < stepsMax else { throw LinearRegex.TooLarge() }
    steps.append(step)
  }

  private mutating func add(_ syntax: RegexSyntax) throws(LinearRegex.TooLarge) {
    switch syntax {
    case .set(let set):
      let index = sets.firstIndex(of: set) ?? sets.count
      if index == sets.count { sets.append(set) }
      try append(.take(set: index))
    case .sequence(let parts): for part in parts { try add(part) }
    case .start: try append(.start)
    case .end: try append(.end)
    case .either(let branches): try addEither(branches)
    case .repeated(let part, let least, let most): try addRepeated(part, least: least, most: most)
    }
  }

  private mutating func addEither(_ branches: [RegexSyntax]) throws(LinearRegex.TooLarge) {
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

  private mutating func addRepeated(_ part: RegexSyntax, least: Int, most: Int?) throws(LinearRegex.TooLarge) {
    for _ in 0..<least {
      let count = steps.count
      try add(part)
      // A part without steps stays without, however often it is repeated: no limit on steps would end this loop.
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

/// Which steps of a program have been reached: a set without repetitions, in which a step is found at once.
private struct RegexWalk {
  private(set) var steps: [Int] = []
  private var isReached: [Bool]

  init(_ program: RegexProgram) {
    isReached = [Bool](repeating: false, count: program.steps.count)
  }

  mutating func clear() {
    for step in steps { isReached[step] = false }
    steps.removeAll(keepingCapacity: true)
  }

  /// Reaches a step, and all that follow it without taking a character.
  ///
  /// Steps that wait for the text's end stay where they are, unless this is the end.
  mutating func reach(_ step: Int, of program: RegexProgram, isStart: Bool, isEnd: Bool) {
    var waiting = [step]
    while let step = waiting.popLast() {
      if isReached[step] { continue }
      isReached[step] = true
      steps.append(step)
      switch program.steps[step] {
      case .take, .match: break
      case .jump(let next): waiting.append(next)
      case .fork(let first, let second):
        waiting.append(second)
        waiting.append(first)
      case .start: if isStart { waiting.append(step + 1) }
      case .end: if isEnd { waiting.append(step + 1) }
      }
    }
  }

  /// Whether the program has reached its end.
  func isMatched(_ program: RegexProgram) -> Bool { isReached[program.steps.count - 1] }
}

/// A program as a deterministic automaton: for every set of steps that a text can reach, and every kind of character, the
/// next set.
private struct RegexTable: Sendable {
  /// How large a table may become; programs that need more are walked.
  private static let statesMax = 256
  private static let workMax = 400_000

  private static let accepted: Int16 = -1

  /// Where the kinds of characters begin, in ascending order; the first is 0.
  private let kinds: [UInt32]
  /// The kind of every ASCII character.
  private let asciiKinds: [UInt8]
  /// For each state and kind the next state, or ``accepted``: whatever follows, it matches.
  private let next: [Int16]
  private let matchesAtEnd: [Bool]
  private let isAcceptedAtOnce: Bool

  /// - Returns: nil if it would become too large.
  init?(_ program: RegexProgram) {
    var bounds: Set<UInt32> = [0]
    for set in program.sets {
      for range in set.ranges {
        bounds.insert(range.lowerBound)
        if range.upperBound < ScalarSet.last { bounds.insert(range.upperBound + 1) }
      }
    }
    guard bounds.count <= 200 else { return nil }
    let kinds = bounds.sorted()
    let holds = program.sets.map { set in kinds.map { set.contains($0) } }

    var walk = RegexWalk(program)
    walk.reach(0, of: program, isStart: true, isEnd: false)
    isAcceptedAtOnce = walk.isMatched(program)
    // The first state is the text's beginning, which no later one is, even if the same steps are reached there.
    var states = [walk.steps.sorted()]
    var numbers: [[Int]: Int] = [:]
    var next: [Int16] = []
    var work = 0
    var index = 0
    while index < states.count {
      for kind in kinds.indices {
        walk.clear()
        for step in states[index] {
          if case .take(let set) = program.steps[step], holds[set][kind] {
            walk.reach(step + 1, of: program, isStart: false, isEnd: false)
          }
        }
        // Unanchored: a match may begin at every character.
        walk.reach(0, of: program, isStart: false, isEnd: false)
        work += states[index].count + walk.steps.count
        guard work <= Self.workMax else { return nil }
        if walk.isMatched(program) {
          next.append(Self.accepted)
          continue
        }
        let steps = walk.steps.sorted()
        let number = numbers[steps] ?? states.count
        if number == states.count {
          guard number < Self.statesMax else { return nil }
          numbers[steps] = number
          states.append(steps)
        }
        next.append(Int16(truncatingIfNeeded: number))
      }
      index += 1
    }
    self.kinds = kinds
    self.next = next
    asciiKinds = (0..<128).map { code in UInt8(truncatingIfNeeded: kinds.lastIndex { $0 <= code } ?? 0) }
    matchesAtEnd = states.enumerated().map { number, steps in
      var end = RegexWalk(program)
      for step in steps {
        guard case .end = program.steps[step] else { continue }
        end.reach(step, of: program, isStart: number == 0, isEnd: true)
      }
      return end.isMatched(program)
    }
  }

  func matches(_ text: String) -> Bool {
    if isAcceptedAtOnce { return true }
    var state = 0
    for scalar in text.unicodeScalars {
      let target = next[state * kinds.count + kind(of: scalar.value)]
      if target == Self.accepted { return true }
      state = Int(target)
    }
    return matchesAtEnd[state]
  }

  private func kind(of code: UInt32) -> Int {
    if code < 128 { return Int(asciiKinds[Int(code)]) }
    var low = 0
    var high = kinds.count
    while low < high {
      let middle = (low + high) / 2
      if kinds[middle] <= code { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }
}
