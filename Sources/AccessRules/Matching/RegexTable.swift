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
