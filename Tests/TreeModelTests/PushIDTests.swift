import TestSupport
import Testing
import TreeModel

@Suite struct PushIDTests {
  private static let alphabet = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"

  @Test("an id has 20 characters of the alphabet and is a legal key")
  func shape() throws {
    var generator = PushIDGenerator()
    var random = SplitMix64(seed: 41)
    let id = generator.next(now: 1_700_000_000_000, random: &random)
    #expect(id.utf8.count == 20)
    #expect(id.allSatisfy(Self.alphabet.contains))
    #expect(throws: Never.self) { try Key(id) }
  }

  @Test(
    "the first eight characters are the clock",
    arguments: [
      (0, "--------"), (1, "-------0"), (63, "-------z"), (64, "------0-"), (1_700_000_000_000, "-NjEtLV-"),
    ] as [(Int64, String)])
  func clock(_ now: Int64, _ expected: String) {
    var generator = PushIDGenerator()
    var random = SplitMix64(seed: 42)
    let id = generator.next(now: now, random: &random)
    #expect(id.hasPrefix(expected))
  }

  @Test("ids ascend: in one millisecond, over time, and when the clock steps back")
  func ascending() {
    var generator = PushIDGenerator()
    var random = SplitMix64(seed: 43)
    var ids: [String] = []
    for now: Int64 in [5, 5, 5, 6, 6, 3, 3, 7, 1_000, 999, 1_000] {
      for _ in 0..<100 { ids.append(generator.next(now: now, random: &random)) }
    }
    #expect(zip(ids, ids.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test("within a millisecond the random part counts up by one")
  func counting() {
    var generator = PushIDGenerator()
    var zeros = ConstantGenerator(value: 0)
    #expect(generator.next(now: 0, random: &zeros) == "--------------------")
    #expect(generator.next(now: 0, random: &zeros) == "-------------------0")
    for _ in 0..<62 { _ = generator.next(now: 0, random: &zeros) }
    #expect(generator.next(now: 0, random: &zeros) == "------------------0-")
  }

  @Test("a random part that cannot count up moves the clock on")
  func overflow() {
    var generator = PushIDGenerator()
    var ones = ConstantGenerator(value: .max)
    #expect(generator.next(now: 0, random: &ones) == "--------zzzzzzzzzzzz")
    #expect(generator.next(now: 0, random: &ones) == "-------0zzzzzzzzzzzz")
  }
}

/// Always the same number.
struct ConstantGenerator: RandomNumberGenerator {
  let value: UInt64

  mutating func next() -> UInt64 { value }
}
