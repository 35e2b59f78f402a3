/// A regular expression of a rule, ready to be searched with; in time that grows with the text's length and no faster,
/// whatever the expression is (spec: rtdb-protocol §4.3).
final class RuleRegex: Sendable {
  private let program: RegexProgram
  /// Nil where it would be too large; the program is walked then.
  private let table: RegexTable?

  init(_ pattern: String, ignoresCase: Bool) throws(RegexError) {
    guard !pattern.isEmpty else { throw RegexError(offset: 0, message: "The regular expression is empty.") }
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
  init(_ syntax: RegexSyntax) throws(RegexError) {
    try add(syntax)
    try append(.match)
  }

  private mutating func append(_ step: Step) throws(RegexError) {
    guard steps.count < Self.stepsMax else {
      throw RegexError(offset: 0, message: "This regular expression is too large; count less.")
    }
    steps.append(step)
  }

  private mutating func add(_ syntax: RegexSyntax) throws(RegexError) {
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

  private mutating func addEither(_ branches: [RegexSyntax]) throws(RegexError) {
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

  private mutating func addRepeated(_ part: RegexSyntax, _ least: Int, _ most: Int?) throws(RegexError) {
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

/// A program worked out in advance: for every set of steps that a text can come to, and every kind of character, the next
/// one. A text costs one look-up a character then.
struct RegexTable: Sendable {
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
        if range.upperBound < ScalarRanges.last { bounds.insert(range.upperBound + 1) }
      }
    }
    guard bounds.count <= 200 else { return nil }
    let kinds = bounds.sorted()
    let holds = program.sets.map { set in kinds.map { set.contains($0) } }

    var walk = RegexWalk(program)
    walk.come(to: 0, of: program, isStart: true, isEnd: false)
    isAcceptedAtOnce = walk.isMatched(program)
    var states = [walk.places.sorted()]
    var numbers = [states[0]: 0]
    var next: [Int16] = []
    var work = 0
    var index = 0
    while index < states.count {
      for kind in kinds.indices {
        walk.clear()
        for place in states[index] {
          if case .take(let set) = program.steps[place], holds[set][kind] {
            walk.come(to: place + 1, of: program, isStart: false, isEnd: false)
          }
        }
        // It may begin anywhere.
        walk.come(to: 0, of: program, isStart: false, isEnd: false)
        work += states[index].count + walk.places.count
        guard work <= Self.workMax else { return nil }
        if walk.isMatched(program) {
          next.append(Self.accepted)
          continue
        }
        let places = walk.places.sorted()
        let number = numbers[places] ?? states.count
        if number == states.count {
          guard number < Self.statesMax else { return nil }
          numbers[places] = number
          states.append(places)
        }
        next.append(Int16(truncatingIfNeeded: number))
      }
      index += 1
    }
    self.kinds = kinds
    self.next = next
    asciiKinds = (0..<128).map { code in UInt8(truncatingIfNeeded: kinds.lastIndex { $0 <= code } ?? 0) }
    matchesAtEnd = states.enumerated().map { number, places in
      var end = RegexWalk(program)
      for place in places {
        guard case .end = program.steps[place] else { continue }
        end.come(to: place, of: program, isStart: number == 0, isEnd: true)
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
