import Testing

@testable import Triggers

@Suite struct ReplayTallyTests {
  @Test(
    "a report's sums stay within what a number holds",
    arguments: [
      (1, 2, 3), (.max, 1, .max), (.max - 1, 1, .max), (.min, -1, .min), (.max, .min, -1), (-5, 5, 0),
    ] as [(Int64, Int64, Int64)])
  func sums(_ one: Int64, _ other: Int64, _ sum: Int64) {
    #expect(one.addingUpTo(other) == sum)
  }
}
