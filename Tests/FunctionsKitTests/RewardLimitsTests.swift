import Testing
import TreeModel

import FunctionsKit

/// Limits that are declared where a function is declared.
@Suite struct RewardLimitsTests {
  private static let options = FunctionOptions(limits: RewardLimits(perReferrer: 20, perDay: 500))

  @Test("Declared limits are settings of the function beside its own, which the configuration overrides one by one")
  func overrides() throws {
    let functions = Functions(settings: ["pay": ["perReferrer": 5, "perNetwork": 9, "untilConfirmed": true, "amount": 60]])
    functions.onCreate(Places.level, name: "pay", settings: Amounts(), options: Self.options) { _, _, settings in
      .skipped("\(settings.amount)")
    }
    functions.onUpdate(Places.level, name: "same", options: Self.options) { _, _ in .done }
    functions.onDelete(Places.level, name: "plain") { _, _ in .done }
    let pay = try #require(functions.definitions.first)
    #expect(pay.limits == RewardLimits(perReferrer: 5, perNetwork: 9, perDay: 500, untilConfirmed: true))
    #expect(
      pay.settings == [
        "amount": 60, "code": "signup", "perReferrer": 5, "perNetwork": 9, "perDay": 500, "untilConfirmed": true,
      ])
    #expect(
      functions.limits(RewardLimits(perDay: 1), of: "pay")
        == RewardLimits(perReferrer: 5, perNetwork: 9, perDay: 1, untilConfirmed: true))
    // What waits for a confirmation has a function that pays it out.
    #expect(functions.definitions.map(\.name) == ["pay", "releaseConfirmedRewards", "same", "plain"])
    #expect(functions.definitions[2].limits == Self.options.limits)
    #expect(functions.definitions[3].limits == nil && !functions.definitions[3].settings.exists)
  }

  @Test("A limit that makes no sense, and one that the function does not have, are faults with a sentence")
  func faults() {
    struct Own: FunctionSettings { var perDay: Int64 = 3 }
    let functions = Functions(checking: [
      "below": ["perReferrer": -1], "text": ["perDay": "many"], "none": ["perDay": 3], "more": ["perWeek": 3],
    ])
    for name in ["below", "text", "more"] {
      functions.onCreate(Places.level, name: name, options: FunctionOptions(limits: RewardLimits())) { _, _ in .done }
    }
    functions.onCreate(Places.level, name: "none") { _, _ in .done }
    functions.onCreate(Places.level, name: "twice", settings: Own(), options: Self.options) { _, _, _ in .done }
    let faults = functions.faults.map { "\($0.function) \($0.setting ?? "-")" }
    #expect(faults == ["below perReferrer", "text -", "more perWeek", "none perDay"])
    #expect(
      functions.faults[2].message == "more has no setting perWeek; it has perDay, perNetwork, perReferrer, untilConfirmed.")
    #expect(functions.mistakes == ["twice: perDay is a setting of the function and one of its limits; keep one."])
  }

  @Test("A payment of a function with limits says whom it is about; one that does not fails the run, also if it is swallowed")
  func withoutTerms() async throws {
    let bob: UserID = "bob"
    let context = FunctionContext(event: .sample(), reader: FixedReader(), limits: RewardLimits(perDay: 3))
    try? await context.credit(Places.coins, bob, amount: 5, code: "signup")
    #expect { try context.finish() } throws: { "\($0)".contains("\"signup\" does not say whom it is about") }
    let free = FunctionContext()
    try await free.credit(Places.coins, bob, amount: 5, code: "signup")
    #expect(try free.finish().postings.count == 1)
  }
}
