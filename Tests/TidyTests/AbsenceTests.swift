import Testing

/// Members that may be missing. `JSON` has a literal `nil`, which is `null`: in `isThere ? value : nil`, where `value` is a `JSON`,
/// that is what the compiler takes it for, and the member is there after all.
@Suite struct AbsenceTests {
  @Test("a choice between a JSON and nothing says JSON?.none")
  func choices() {
    let found = Repository.sources.flatMap { file in
      Self.nulls(in: file.codeBytes).map { line in
        file.finding(line, "nil is null here: write JSON?.none for a member that is missing")
      }
    }
    #expect(found.isEmpty, "\(found.listing)")
  }

  @Test(
    "the check tells what is null from what is missing",
    arguments: [
      ("(\"a\", isOwn ? own : nil)", true), ("(\"a\", !isOwn ? nil : own)", true),
      ("(\"a\", isOwn ? JSON.int(1) : nil),", true),
      ("(\"a\",\n  b.contains { $0 }\n    ? json(of: b) : nil\n)", true), ("(\"a\", a ? .int(1) : b ? own : nil)", true),
      ("(\"a\", isOwn ? own : JSON?.none)", false), ("(\"a\", isOwn ? .bool(true) : nil)", false),
      ("(\"a\", isOwn ? true : nil)", false), ("(\"a\", isOwn ? text.map(JSON.string) : nil)", false),
      ("(\"a\", isOwn ? [\"b\": own] : nil)", false), ("(\"a\", (isOwn ? text : nil).map(JSON.string))", false),
      ("(\"a\", text.map { f($0, to: nil) })", false),
    ])
  func judged(member: String, isNull: Bool) {
    #expect(Self.nulls(in: Array("let json = JSON(fields: [\(member)])".utf8)).isEmpty == !isNull)
  }

  /// A choice that is being read: where its two values begin.
  private struct Choice {
    /// Whether it stands in a member, not in an expression within one.
    let isMember: Bool
    var first: Int?
    var second: (ArraySlice<UInt8>, from: Int)?
  }

  /// The lines (from 0) of choices whose one side is a `JSON` and whose other is `nil`, among the members of objects.
  private static func nulls(in code: [UInt8]) -> [Int] {
    let opening = Array("fields: [".utf8)
    guard code.holds(opening) else { return [] }
    var found: [Int] = []
    var index = 0
    while index + opening.count <= code.count {
      guard code[index] == opening[0], code[index..<(index + opening.count)].elementsEqual(opening) else {
        index += 1
        continue
      }
      index = read(code, from: index + opening.count, into: &found)
    }
    return found
  }

  /// Reads members up to the bracket that closes them.
  ///
  /// - Returns: the index behind it.
  private static func read(_ code: [UInt8], from start: Int, into found: inout [Int]) -> Int {
    var choices = [Choice(isMember: false)]
    var brackets = [UInt8(ascii: "[")]
    var index = start
    while index < code.count, !choices.isEmpty {
      let isApart = index > 0 && [0x20, 0x0A].contains(code[index - 1])
      switch code[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
        choices.append(Choice(isMember: code[index] == UInt8(ascii: "(") && brackets.last == UInt8(ascii: "[")))
        brackets.append(code[index])
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        note(choices.removeLast(), end: index, code, into: &found)
        brackets.removeLast()
      case UInt8(ascii: ","):
        note(choices[choices.count - 1], end: index, code, into: &found)
        choices[choices.count - 1] = Choice(isMember: choices[choices.count - 1].isMember)
      case UInt8(ascii: "?") where isApart:
        choices[choices.count - 1].first = index + 1
        choices[choices.count - 1].second = nil
      case UInt8(ascii: ":") where isApart:
        guard let first = choices[choices.count - 1].first else { break }
        choices[choices.count - 1].second = (code[first..<index], from: index + 1)
      default: break
      }
      index += 1
    }
    return index
  }

  private static func note(_ choice: Choice, end: Int, _ code: [UInt8], into found: inout [Int]) {
    guard choice.isMember, let (one, from) = choice.second else { return }
    let values = [one, code[from..<end]].map { value in
      String(decoding: value, as: UTF8.self).split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }
    guard let other = values[1] == "nil" ? values[0] : values[0] == "nil" ? values[1] : nil else { return }
    // Literals, members of the wanted type and what is optional itself become what is wanted: a JSON that may be missing.
    let isLiteral = other.first.map { ".\"[-0123456789".contains($0) } ?? true
    if isLiteral || ["true", "false"].contains(other) || other.contains("map") || other.contains("JSON?") { return }
    found.append(code[..<from].count { $0 == 0x0A })
  }
}
