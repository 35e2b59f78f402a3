import FunctionsKit
import Testing
import TreeModel

@Suite struct ChangeFilterTests {
  @Test(
    "rising admits a number that crosses the threshold upwards",
    arguments: [
      (4, 5, true), (0, 500, true), (-3, 5, true), (4.9, 5, true), (4, 5.5, true), (.int(.min), .int(.max), true),
      (5, 6, false),
      (5, 5, false), (4, 4.9, false), (5, 4, false), (nil, 5, false), (4, nil, false), ("4", 5, false), (4, "5", false),
      (false, true, false), (nil, nil, false),
    ] as [(Scalar?, Scalar?, Bool)])
  func rising(_ before: Scalar?, _ after: Scalar?, _ isAdmitted: Bool) {
    #expect(ChangeFilter.rising(to: 5)(before: before, after: after) == isAdmitted)
  }

  @Test(
    "changed admits exactly its change; whole doubles are integers",
    arguments: [
      (4, 5, true), (4.0, 5.0, true), (4, 5.5, false), (5, 4, false), (4, nil, false), (nil, 5, false), ("4", "5", false),
    ] as [(Scalar?, Scalar?, Bool)])
  func changed(_ before: Scalar?, _ after: Scalar?, _ isAdmitted: Bool) {
    #expect(ChangeFilter.changed(from: 4, to: 5)(before: before, after: after) == isAdmitted)
  }

  @Test("two spellings of a text are two values")
  func spellings() {
    let filter = ChangeFilter.changed(from: "\u{E9}", to: "done")
    #expect(filter(before: "\u{E9}", after: "done"))
    #expect(!filter(before: "e\u{301}", after: "done"))
  }

  @Test("any admits everything, and an author's own filter what its closure does")
  func own() {
    #expect(ChangeFilter.any(before: nil, after: nil))
    #expect(ChangeFilter.any(before: 1, after: "x"))
    let doubled = ChangeFilter.when("doubled") { before, after in
      guard let before = before?.intValue, let after = after?.intValue else { return false }
      return after == 2 * before
    }
    #expect(doubled(before: 2, after: 4))
    #expect(!doubled(before: 2, after: 5))
    #expect(!doubled(before: nil, after: 4))
    #expect(doubled.description == "doubled")
    #expect(ChangeFilter.rising(to: 5).description == "rising to 5")
    #expect(ChangeFilter.any.description == "any change")
  }

  @Test("a filter says its rule as the end of a sentence, and names a change that it admits, if the rule does")
  func words() {
    for (filter, words, example) in [
      (.any, "", nil), (.changed(from: 4, to: 5), " from 4 to 5", .init(before: 4, after: 5)),
      (.changed(from: "new", to: true), #" from "new" to true"#, .init(before: "new", after: true)),
      (.rising(to: 5), " rising to 5", .init(before: 4, after: 5)), (.rising(to: .min), " rising to \(Int64.min)", nil),
      (.when("the level doubled") { _, _ in false }, ", when the level doubled", nil),
    ] as [(ChangeFilter, String, ChangeFilter.Example?)] {
      #expect(filter.words == words)
      #expect(filter.example == example)
      if let example { #expect(filter(before: example.before, after: example.after)) }
    }
  }
}
