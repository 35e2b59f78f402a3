import TestSupport

/// Random regular expressions over a, b and c, with the plainest way to match them: all ways are tried.
struct RandomRegex {
  indirect enum Part {
    case letter(Character)
    case anything
    case sequence([Part])
    case either([Part])
    case repeated(Part, Int, Int?)

    var text: String {
      switch self {
      case .letter(let letter): String(letter)
      case .anything: "."
      case .sequence(let parts): parts.map(\.text).joined()
      case .either(let parts): "(" + parts.map(\.text).joined(separator: "|") + ")"
      case .repeated(let part, let least, let most):
        "(" + part.text + ")"
          + (most.map { least == 0 && $0 == 1 ? "?" : "{\(least),\($0)}" }
            ?? (least == 0 ? "*" : least == 1 ? "+" : "{\(least),}"))
      }
    }

    /// Where the part may end if it begins at `start`.
    func ends(in text: [Character], from start: Int) -> Set<Int> {
      switch self {
      case .letter(let letter): return start < text.count && text[start] == letter ? [start + 1] : []
      case .anything: return start < text.count ? [start + 1] : []
      case .sequence(let parts):
        return parts.reduce([start]) { starts, part in Set(starts.flatMap { part.ends(in: text, from: $0) }) }
      case .either(let parts): return Set(parts.flatMap { $0.ends(in: text, from: start) })
      case .repeated(let part, let least, let most):
        var reached: Set<Int> = [start]
        var ends: Set<Int> = least == 0 ? [start] : []
        for count in 1...(most ?? least + text.count + 1) {
          reached = Set(reached.flatMap { part.ends(in: text, from: $0) })
          if count >= least { ends.formUnion(reached) }
          if reached.isEmpty { break }
        }
        return ends
      }
    }
  }

  struct Regex {
    let part: Part
    let isAnchoredAtStart: Bool
    let isAnchoredAtEnd: Bool

    var text: String { (isAnchoredAtStart ? "^" : "") + part.text + (isAnchoredAtEnd ? "$" : "") }

    func matches(_ text: String) -> Bool {
      let text = Array(text)
      return (0...(isAnchoredAtStart ? 0 : text.count)).contains { start in
        let ends = part.ends(in: text, from: start)
        return isAnchoredAtEnd ? ends.contains(text.count) : !ends.isEmpty
      }
    }
  }

  private var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  mutating func regex(depth: Int) -> Regex {
    Regex(part: part(depth: depth), isAnchoredAtStart: chance(2), isAnchoredAtEnd: chance(2))
  }

  mutating func text() -> String { String((0..<Int.random(in: 0...8, using: &random)).map { _ in letter() }) }

  private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }
  private mutating func letter() -> Character { Array("abc")[Int.random(in: 0..<3, using: &random)] }

  private mutating func part(depth: Int) -> Part {
    if depth == 0 { return chance(5) ? .anything : .letter(letter()) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .either((0..<Int.random(in: 1...3, using: &random)).map { _ in part(depth: depth - 1) })
    case 1:
      let least = Int.random(in: 0...2, using: &random)
      return .repeated(part(depth: depth - 1), least, chance(2) ? nil : max(1, least + Int.random(in: 0...2, using: &random)))
    default: return .sequence((0..<Int.random(in: 1...3, using: &random)).map { _ in part(depth: depth - 1) })
    }
  }
}
