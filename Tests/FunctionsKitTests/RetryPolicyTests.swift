import FunctionsKit
import Testing

@Suite struct RetryPolicyTests {
  @Test("the delay doubles with each failure, up to the cap")
  func delays() {
    let delays = (1...12).map { RetryPolicy().delay(afterFailures: $0) }
    #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map { .seconds($0) })
  }

  @Test("twelve attempts take about 27 minutes")
  func total() {
    let policy = RetryPolicy()
    #expect(policy.attempts == 12)
    let total = (1..<policy.attempts).map { policy.delay(afterFailures: $0) }.reduce(.zero, +)
    #expect((Duration.seconds(26 * 60)...Duration.seconds(28 * 60)).contains(total))
  }

  @Test(
    "no number of failures leads beyond the cap, or over the end of a number",
    arguments: [
      (1, 3, 10, 3), (2, 3, 10, 6), (3, 3, 10, 10), (1000, 3, 10, 10), (.max, 1, 600, 600), (1, 30, 10, 10), (0, 3, 10, 3),
      (-5, 3, 10, 3),
    ] as [(Int, Int, Int, Int)])
  func edges(_ failures: Int, _ base: Int, _ cap: Int, _ expected: Int) {
    let policy = RetryPolicy(base: .seconds(base), cap: .seconds(cap))
    #expect(policy.delay(afterFailures: failures) == .seconds(expected))
  }

  @Test("the defaults fit a reward: a minute for a run, one key at a time")
  func options() {
    let options = FunctionOptions()
    #expect(options.deadline == .seconds(60))
    #expect(options.order == .perKey)
    #expect(options.retry == RetryPolicy())
    #expect(options.formerly.isEmpty)
  }
}
