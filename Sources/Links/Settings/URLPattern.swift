/// A regular expression that is matched in linear time: what RE2 understands of URLs, nothing that needs to try again.
///
/// Letters and digits, `.`, classes `[a-z]`, `\d \w \s` and their opposites, groups, `|`, `* + ? {m,n}`, `^ $`. It matches
/// anywhere in the text unless it is anchored. Look-around and back-references are refused, and so is a pattern whose
/// automaton would be large: matching costs at most states times bytes (spec: links-messaging §1, allow-list).
package struct URLPattern: Sendable, Hashable {
  /// Why a text is no pattern.
  package struct Fault: Error, Sendable, Hashable {
    /// What is wrong, and where.
    package let message: String
  }

  /// As it was written.
  package let text: String
  private let program: [PatternStep]
  /// Whether it can match at the beginning only.
  package let isAnchored: Bool

  /// The longest pattern, and the most steps of its automaton.
  static let lengthMax = 500
  static let stepsMax = 5000

  /// Reads a pattern; ``Fault`` says what is wrong with it, and where.
  package init(_ text: String) throws(Fault) {
    guard text.utf8.count <= Self.lengthMax else { throw Fault(message: "it is longer than \(Self.lengthMax) bytes.") }
    self.text = text
    var parser = PatternParser(text)
    let node = try parser.parse()
    var compiler = PatternCompiler()
    program = try compiler.program(of: node)
    isAnchored = node.isAnchored
  }

  /// Whether the pattern matches somewhere in the text.
  package func matches(_ text: String) -> Bool {
    var run = PatternRun(program: program)
    return run.matches(Array(text.utf8))
  }

  package static func == (left: URLPattern, right: URLPattern) -> Bool { left.text == right.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// A pattern as a tree.
indirect enum PatternNode: Sendable {
  case empty
  case bytes(ByteSet)
  case start
  case end
  case sequence([PatternNode])
  case choice([PatternNode])
  /// `max` nil: any number of times.
  case repeated(PatternNode, min: Int, max: Int?)

  /// Whether every way through begins with `^`.
  var isAnchored: Bool {
    switch self {
    case .start: true
    case .sequence(let parts): parts.first?.isAnchored ?? false
    case .choice(let ways): ways.allSatisfy(\.isAnchored)
    case .repeated(let node, let min, _): min > 0 && node.isAnchored
    case .empty, .bytes, .end: false
    }
  }
}

/// A set of bytes, as 256 bits.
struct ByteSet: Sendable, Hashable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init() {}

  init(_ range: ClosedRange<UInt8>) { insert(range) }

  mutating func insert(_ range: ClosedRange<UInt8>) { for byte in range { insert(byte) } }

  mutating func insert(_ byte: UInt8) {
    let bit = UInt64(1) << (byte & 63)
    switch byte >> 6 {
    case 0: words.0 |= bit
    case 1: words.1 |= bit
    case 2: words.2 |= bit
    default: words.3 |= bit
    }
  }

  mutating func formUnion(_ other: ByteSet) {
    words = (words.0 | other.words.0, words.1 | other.words.1, words.2 | other.words.2, words.3 | other.words.3)
  }

  var inverted: ByteSet {
    var other = ByteSet()
    other.words = (~words.0, ~words.1, ~words.2, ~words.3)
    return other
  }

  func contains(_ byte: UInt8) -> Bool {
    let bit = UInt64(1) << (byte & 63)
    switch byte >> 6 {
    case 0: return words.0 & bit != 0
    case 1: return words.1 & bit != 0
    case 2: return words.2 & bit != 0
    default: return words.3 & bit != 0
    }
  }

  static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

  func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

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
