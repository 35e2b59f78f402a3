import Testing
import TextFormats

@Suite struct LinearRegexTests {
  private static let a = RegexSyntax.set(ScalarSet([0x61...0x61]))
  private static let b = RegexSyntax.set(ScalarSet([0x62...0x62]))

  @Test(
    "assertions hold where a text begins and ends, wherever they stand in the expression",
    arguments: [
      (.sequence([]), "x", true), (.sequence([.end, .start]), "", true), (.sequence([.end, .start]), "ab", false),
      (.sequence([.start, a, .end]), "a", true), (.sequence([.start, a, .end]), "aa", false),
      (.sequence([a, .end, b]), "ab", false), (.sequence([a, .start, b]), "ab", false),
      (.either([.sequence([a, .end]), .sequence([.start, b])]), "xa", true),
      (.repeated(.start, min: 0, max: nil), "x", true), (.sequence([.start, .start, a]), "a", true),
      (.sequence([.repeated(a, min: 2, max: 3), .end]), "caa", true),
      (.sequence([.start, .repeated(a, min: 2, max: 3), .end]), "aaaa", false),
      (.sequence([.start, .repeated(a, min: 0, max: 0), b]), "b", true),
    ] as [(RegexSyntax, String, Bool)])
  func assertions(_ syntax: RegexSyntax, _ text: String, _ matches: Bool) throws {
    #expect(try LinearRegex(syntax, stepsMax: 100).matches(text) == matches)
    // With 300 forks before it there is no table: the program is walked.
    let wide = RegexSyntax.sequence([.repeated(.set(ScalarSet([0x7A...0x7A])), min: 0, max: 300), syntax])
    let walked = RegexSyntax.either([wide, syntax])
    #expect(try LinearRegex(walked, stepsMax: 2000).matches(text) == matches)
  }

  @Test("whether every match begins at the beginning")
  func anchored() {
    #expect(RegexSyntax.sequence([.start, Self.a]).isAnchored && RegexSyntax.either([.start, .start]).isAnchored)
    #expect(RegexSyntax.repeated(.start, min: 1, max: nil).isAnchored)
    #expect(!RegexSyntax.repeated(.start, min: 0, max: 1).isAnchored && !RegexSyntax.sequence([]).isAnchored)
    #expect(!RegexSyntax.either([.start, Self.a]).isAnchored && !RegexSyntax.sequence([Self.a, .start]).isAnchored)
  }

  @Test("counts that multiply are refused, those of nothing are not")
  func sizes() throws {
    let many = RegexSyntax.repeated(.repeated(Self.a, min: 100, max: 100), min: 100, max: 100)
    #expect(throws: LinearRegex.TooLarge.self) { try LinearRegex(many, stepsMax: 5000) }
    let nothing = RegexSyntax.repeated(.repeated(.sequence([]), min: 1000, max: 1000), min: 1000, max: 1000)
    #expect(try LinearRegex(nothing, stepsMax: 5).matches("x"))
  }

  @Test(
    "sets hold their ranges, and their inversions the others",
    arguments: [
      (ScalarSet([0x61...0x63, 0x62...0x65]), [0x61, 0x65], [0x60, 0x66]), (ScalarSet([]), [], [0, 0x10FFFF]),
      (.digits, [0x30, 0x39], [0x2F, 0x3A]), (.wordCharacters, [0x5F, 0x41], [0x2D, 0xE9]), (.spaces, [0x20, 0xA0], [0x200B]),
      (.anyButLineEnds, [0x20, 0x1F600], [0x0A, 0x2028]),
    ] as [(ScalarSet, [UInt32], [UInt32])])
  func sets(_ set: ScalarSet, _ inside: [UInt32], _ outside: [UInt32]) {
    #expect(inside.allSatisfy(set.contains) && !outside.contains(where: set.contains))
    #expect(outside.allSatisfy(set.inverted.contains) && !inside.contains(where: set.inverted.contains))
    #expect(set.inverted.inverted == set)
  }
}
