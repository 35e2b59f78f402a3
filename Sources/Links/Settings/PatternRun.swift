/// One step of a pattern's automaton; places are numbers of steps.
enum PatternStep: Sendable, Hashable {
  case bytes(ByteSet)
  case start
  case end
  case split(Int, Int)
  case jump(Int)
  case match
}

/// Turns the tree of a pattern into its automaton (Thompson's construction).
struct PatternCompiler {
  private var steps: [PatternStep] = []

  mutating func program(of node: PatternNode) throws(URLPattern.Fault) -> [PatternStep] {
    try add(node)
    try append(.match)
    return steps
  }

  private mutating func append(_ step: PatternStep) throws(URLPattern.Fault) {
    guard steps.count < URLPattern.stepsMax else {
      throw URLPattern.Fault(message: "its repetitions make it too large; ask for fewer.")
    }
    steps.append(step)
  }

  private mutating func add(_ node: PatternNode) throws(URLPattern.Fault) {
    switch node {
    case .empty: break
    case .bytes(let set): try append(.bytes(set))
    case .start: try append(.start)
    case .end: try append(.end)
    case .sequence(let parts): for part in parts { try add(part) }
    case .choice(let ways):
      var jumps: [Int] = []
      for (index, way) in ways.enumerated() {
        let split = steps.count
        if index + 1 < ways.count { try append(.split(split + 1, 0)) }
        try add(way)
        guard index + 1 < ways.count else { break }
        jumps.append(steps.count)
        try append(.jump(0))
        steps[split] = .split(split + 1, steps.count)
      }
      for jump in jumps { steps[jump] = .jump(steps.count) }
    case .repeated(let node, let min, let max):
      for _ in 0..<min {
        let count = steps.count
        try add(node)
        // Nothing, however often: no step would end it.
        if steps.count == count { break }
      }
      if let max { try addOptional(node, max - min) } else { try addLoop(node) }
    }
  }

  private mutating func addLoop(_ node: PatternNode) throws(URLPattern.Fault) {
    let split = steps.count
    try append(.split(split + 1, 0))
    try add(node)
    try append(.jump(split))
    steps[split] = .split(split + 1, steps.count)
  }

  private mutating func addOptional(_ node: PatternNode, _ count: Int) throws(URLPattern.Fault) {
    var splits: [Int] = []
    for _ in 0..<count {
      splits.append(steps.count)
      try append(.split(steps.count + 1, 0))
      try add(node)
    }
    for split in splits { steps[split] = .split(split + 1, steps.count) }
  }
}

/// Follows every way through an automaton at once, byte by byte: no way is tried twice.
struct PatternRun {
  let program: [PatternStep]
  private var current: [Int] = []
  private var following: [Int] = []
  /// In which round a step was last reached.
  private var reached: [Int]
  private var round = 0

  init(program: [PatternStep]) {
    self.program = program
    reached = Array(repeating: -1, count: program.count)
  }

  mutating func matches(_ text: [UInt8]) -> Bool {
    for index in 0...text.count {
      round = index
      let begun = current
      current.removeAll(keepingCapacity: true)
      for step in begun where enter(step, at: index, of: text.count) { return true }
      if enter(0, at: index, of: text.count) { return true }
      guard index < text.count else { break }
      following.removeAll(keepingCapacity: true)
      for step in current {
        if case .bytes(let set) = program[step], set.contains(text[index]) { following.append(step + 1) }
      }
      current = following
    }
    return false
  }

  /// Follows what costs no byte; true if that reaches the match.
  private mutating func enter(_ start: Int, at index: Int, of count: Int) -> Bool {
    var open = [start]
    while let step = open.popLast() {
      guard reached[step] != round else { continue }
      reached[step] = round
      switch program[step] {
      case .match: return true
      case .bytes: current.append(step)
      case .start: if index == 0 { open.append(step + 1) }
      case .end: if index == count { open.append(step + 1) }
      case .jump(let target): open.append(target)
      case .split(let first, let second):
        open.append(second)
        open.append(first)
      }
    }
    return false
  }
}
