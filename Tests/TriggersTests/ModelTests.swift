import FunctionsKit
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel
@testable import Triggers

/// Random writes, failures, pauses, redeliveries and restarts against what must come out.
struct ModelTests {
  @Test(arguments: 0..<6) func whateverHappensEveryLevelIsPaidExactlyOnce(seed: UInt64) async throws {
    let folder = TemporaryFolder()
    let clock = AdjustableClock(frozenAt: TriggerFixture.start)
    var random = SplitMix64(seed: seed)
    var expected: [String: Int64] = [:]
    var options = DispatcherOptions()
    options.eventsMax = 12
    options.eventsLow = 6
    options.rerunsMax = 1000
    let register: @Sendable (Functions) -> Void = { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: event.after ?? 0, code: "level")
        // Fails on its first attempts for some, so that keys wait and restarts find retries.
        if event.details.attempt <= Int((event.after ?? 0) % 3) { throw Broken("attempt \(event.details.attempt)") }
        return .done
      }
      functions.onWrite(Users.level, name: "count", options: FunctionOptions(order: .unordered)) { event, context in
        try await context.transaction(Users.counter) { ($0 ?? 0) + 1 }
        return .done
      }
    }
    var writes = 0
    for _ in 0..<5 {
      let fixture = try await TriggerFixture(folder: folder, clock: clock, options: options, register)
      for _ in 0..<40 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try await fixture.dispatcher.pause("pay", because: "test")
        case 1: try await fixture.dispatcher.resume("pay")
        case 2:
          if let event = try fixture.events().randomElement(using: &random) {
            try fixture.dispatcher.redeliver(event.id, in: fixture.namespace)
          }
        case 3: clock.advance(by: Int64.random(in: 0..<3000, using: &random))
        default:
          let uid = "u\(Int.random(in: 0..<4, using: &random))"
          writes += 1
          expected[uid, default: 0] += Int64(writes)
          try await fixture.set(Path(parsing: "/users/\(uid)/level"), .leaf(.int(Int64(writes))))
        }
      }
      // Not drained: the next start finds whatever there is.
      await fixture.close()
    }
    let last = try await TriggerFixture(folder: folder, clock: clock, options: options, register)
    try await last.dispatcher.resume("pay")
    // As many steps as the longest key has failures.
    for _ in 0..<400 where try await !last.drain().unsettled.isEmpty { clock.advance(by: 10_000) }
    let open = try last.openDeliveries()
    #expect(open.isEmpty, "\(open)")
    for (uid, coins) in expected { #expect(try last.coins(uid) == coins, "\(uid)") }
    #expect(try last.node("/counter").scalar == .int(Int64(writes)))
    try last.checkInvariants()
    await last.close()
  }
}

extension TriggerFixture {
  /// All deliveries that are not finished.
  func openDeliveries() throws -> [DeliveryRecord] { try DeliveryRecord.State.allCases.flatMap { try deliveries($0) } }
}

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
